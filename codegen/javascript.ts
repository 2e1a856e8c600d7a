/**
 * A wrapper as JavaScript: the module, its declarations, and a map from these to the `.tc` file, so that an editor's "go to
 * definition" on a kernel's call ends in the kernel. Loads TypeScript, as `emit.ts` does.
 */
import { ts } from "ts-morph";
import { bug } from "../compiler/support/bug.ts";
import type { Definition } from "./definitions.ts";
import { encodeMappings, type Mapping } from "./source_map.ts";

/** The files of a wrapper. */
export interface JavaScriptModule {
  readonly module: string;
  readonly declarations: string;
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ES2022,
  strict: true,
  isolatedDeclarations: true,
  removeComments: false,
};

/** TypeScript text to JavaScript and declarations, of which Deno finds those that the module names: `NAME.d.ts`. */
export function toJavaScript(text: string, name: string): JavaScriptModule {
  const { outputText: module } = ts.transpileModule(text, { compilerOptions: OPTIONS });
  const { outputText: declarations, diagnostics = [] } = ts.transpileDeclaration(text, {
    compilerOptions: OPTIONS,
    reportDiagnostics: true,
  });
  const [first] = diagnostics;
  if (first !== undefined) {
    bug(`No declarations: ${ts.flattenDiagnosticMessageText(first.messageText, " ")}`);
  }
  const types = `./${encodeURIComponent(name)}.d.ts`;
  return { module: `// @ts-self-types="${types}"\n${module}`, declarations };
}

/**
 * The map from declarations to the `.tc` file. Editors look up the names that a call resolves to: the constant, and what
 * its interface declares.
 *
 * @param source The `.tc` file, relative to the map.
 */
export function declarationMap(
  declarations: string,
  definitions: readonly Definition[],
  source: string,
  file: string,
): string {
  const tree = ts.createSourceFile(file, declarations, ts.ScriptTarget.ES2022, true);
  const mappings = tree.statements.flatMap((statement) =>
    definitions.flatMap((definition): Mapping[] =>
      namesOf(statement, definition).flatMap((node) => {
        const [start, end] = [node.getStart(), node.getEnd()].map((at) =>
          tree.getLineAndCharacterOfPosition(at)
        );
        if (start === undefined || end === undefined) return [];
        const { line, column, length } = definition;
        return [
          { line: start.line, column: start.character, sourceLine: line, sourceColumn: column },
          {
            line: end.line,
            column: end.character,
            sourceLine: line,
            sourceColumn: column + length,
          },
        ];
      })
    )
  );
  const map = {
    version: 3,
    file,
    sources: [source],
    names: [],
    mappings: encodeMappings(mappings),
  };
  return `${JSON.stringify(map)}\n`;
}

/** The nodes that represent the kernel: names where there are names, else whole call signatures. */
function namesOf(statement: ts.Statement, { exportName, interfaceName }: Definition): ts.Node[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name)
      .filter((name) => name.getText() === exportName);
  }
  if (!ts.isInterfaceDeclaration(statement) || statement.name.text !== interfaceName) return [];
  return [statement.name, ...statement.members.map((member) => member.name ?? member)];
}
