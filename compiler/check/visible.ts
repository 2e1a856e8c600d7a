/** Which names a program may use at an offset of its text: what its blocks have declared so far. */
import type { SourceFile, Span } from "../support/source.ts";
import type { BlockItem, Declaration, Expr, Name, Specs, Stmt, Unit } from "../parse/ast.ts";

/** Names declared before an offset in the scopes around it, innermost last. */
export function visibleNames(unit: Unit, file: SourceFile, offset: number): readonly Name[] {
  const names: Name[] = [];
  const isBefore = ({ span }: Name): boolean => span.file !== file || span.end <= offset;
  const add = (found: readonly (Name | undefined)[]): void => {
    for (const name of found) if (name !== undefined && isBefore(name)) names.push(name);
  };
  for (const item of unit.items) {
    if (item.kind === "declaration") add(namesOf(item));
    if (item.kind !== "function") continue;
    add([item.declarator.name]);
    if (!isAround(item.span, file, offset)) continue;
    add(item.declarator.params?.params.map(({ declarator }) => declarator.name) ?? []);
    inBlock(item.body.items);
  }
  return names;

  function inBlock(items: readonly BlockItem[]): void {
    for (const item of items) {
      if (item.kind === "declaration") add(namesOf(item));
      else if (item.kind !== "static-assert") inStatement(item);
    }
  }

  function inStatement(stmt: Stmt): void {
    if (!isAround(stmt.span, file, offset)) return;
    switch (stmt.kind) {
      case "block":
        return inBlock(stmt.items);
      case "if":
        inStatement(stmt.then);
        return stmt.else && inStatement(stmt.else);
      case "for":
        if (isDeclaration(stmt.init)) add(namesOf(stmt.init));
        return inStatement(stmt.body);
      case "while":
      case "do":
        return inStatement(stmt.body);
      default:
        return;
    }
  }
}

function isAround({ file: own, start, end }: Span, file: SourceFile, offset: number): boolean {
  return own === file && start <= offset && offset <= end;
}

function isDeclaration(init: Declaration | Expr | undefined): init is Declaration {
  return init?.kind === "declaration";
}

function namesOf({ specs, inits }: Declaration): readonly (Name | undefined)[] {
  return [...enumerators(specs), ...inits.map(({ declarator }) => declarator.name)];
}

function enumerators({ type }: Specs): readonly Name[] {
  return type.kind === "enum" ? type.enumerators?.map(({ name }) => name) ?? [] : [];
}
