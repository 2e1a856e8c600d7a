/**
 * Puts a module together with ts-morph and has TypeScript's parser read it, so that the result is always
 * a module. The only file that loads ts-morph, which takes a while: it is imported when there is something
 * to write.
 */
import {
  type ImportDeclarationStructure,
  IndentationText,
  Project,
  StructureKind,
  ts,
} from "ts-morph";
import { bug } from "../compiler/support/bug.ts";
import { printDeclaration } from "./declarations.ts";
import { LINE_WIDTH } from "./doc.ts";
import type { ImportStructure, ModuleStructure } from "./structure.ts";

/** The module as formatted text. */
export function printModule(module: ModuleStructure): string {
  const project = new Project({
    useInMemoryFileSystem: true,
    manipulationSettings: { indentationText: IndentationText.TwoSpaces },
  });
  const header = module.header.map((line) => `// ${line}`.trimEnd()).join("\n");
  const body = module.declarations.map(printDeclaration).join(
    module.imports.length === 0 ? "\n" : "\n\n",
  );
  const file = project.createSourceFile("module.ts", {
    statements: [header, ...module.imports.map(importStructure), `\n${body}`],
  });
  const text = file.getFullText().trimEnd() + "\n";
  checkSyntax(text);
  return text;
}

function importStructure({ from, values, types }: ImportStructure): ImportDeclarationStructure {
  const byName = (a: string, b: string): number => a.toLowerCase() < b.toLowerCase() ? -1 : 1;
  const names = [
    ...values.map((name) => ({ name, text: name })),
    ...types.map((name) => ({ name, text: values.length === 0 ? name : `type ${name}` })),
  ].toSorted((a, b) => byName(a.name, b.name)).map(({ text }) => text);
  const oneLine = `import ${values.length === 0 ? "type " : ""}{ ${
    names.join(", ")
  } } from "${from}";`;
  return {
    kind: StructureKind.ImportDeclaration,
    moduleSpecifier: from,
    isTypeOnly: values.length === 0,
    namedImports: oneLine.length <= LINE_WIDTH ? names : (writer) => {
      writer.newLine();
      for (const name of names) writer.write(`${name},`).newLine();
    },
  };
}

function checkSyntax(text: string): void {
  const { diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext },
  });
  const [first] = diagnostics;
  if (first === undefined) return;
  const line = text.slice(0, first.start).split("\n").length;
  bug(
    `Generated module does not parse, line ${line}: ${
      ts.flattenDiagnosticMessageText(first.messageText, " ")
    }`,
  );
}
