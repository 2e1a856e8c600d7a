/** Declarations as text, laid out as `deno fmt` does. */
import { type Doc, flat, layOut, LINE_WIDTH, newline, quote, SEVERAL_TO_A_LINE } from "./doc.ts";
import type {
  Declaration,
  InterfaceStructure,
  MemberStructure,
  ReexportedName,
  TypeParam,
} from "./structure.ts";

/** One declaration with its doc comment. */
export function printDeclaration(declaration: Declaration): string {
  if (declaration.kind === "reexport") return printReexport(declaration.from, declaration.names);
  if (declaration.kind === "function") return printFunction(declaration);
  const comment = printComment(declaration.doc, 0);
  const keyword = declaration.isExported ? "export " : "";
  switch (declaration.kind) {
    case "interface":
      return comment + printInterface(declaration, keyword);
    case "type": {
      const { name, type } = declaration;
      const text = printAssignment(`${keyword}type ${name} =`, type);
      const isPacked = typeof type !== "string" && type.kind === "union" && type.isPacked === true;
      const ignored = isPacked && text.includes("\n") ? `${SEVERAL_TO_A_LINE}\n` : "";
      return comment + ignored + text;
    }
    case "const":
      return comment +
        printConst(`${keyword}const ${declaration.name}`, declaration.type, declaration.value);
  }
}

function printFunction(
  { name, params, type, value }: Extract<Declaration, { readonly kind: "function" }>,
): string {
  const returns = `: ${flat(type)} =>`;
  const [open, close] = typeof value !== "string" && value.kind === "array" ? ["", ""] : ["(", ")"];
  const oneLine = `const ${name} = (${params.join(", ")})${returns} ${open}`;
  const head = oneLine.length + 1 <= LINE_WIDTH
    ? oneLine
    : `const ${name} = (${
      params.map((param) => `${newline(2)}${param},`).join("")
    }\n)${returns} ${open}`;
  const column = head.length - head.lastIndexOf("\n") - 1;
  return `${head}${layOut(value, { indent: 0, column, after: close.length + 1 })}${close};`;
}

function printReexport(from: string, names: readonly ReexportedName[] | undefined): string {
  if (names === undefined) return `export * from ${quote(from)};`;
  const lines = names.map(({ name, isType, alias }) =>
    `  ${isType ? "type " : ""}${name}${alias === undefined ? "" : ` as ${alias}`},\n`
  );
  return `export {\n${lines.join("")}} from ${quote(from)};`;
}

function printConst(name: string, type: string | undefined, value: Doc): string {
  if (type === undefined) return printAssignment(`${name} =`, value);
  const head = `${name}: ${type} =`;
  const [firstLine = ""] = layOut(value, { indent: 0, column: LINE_WIDTH, after: 1 }).split("\n");
  if (head.length + 1 + firstLine.length <= LINE_WIDTH) return printAssignment(head, value);
  // The value moves to the next line as a whole.
  if (head.length <= LINE_WIDTH) {
    return `${head}${newline(2)}${layOut(value, { indent: 2, column: 2, after: 1 })};`;
  }
  const [, before = "", argument = "", after = ""] = /^(.*<)(.+)(>.*)$/.exec(type) ?? [];
  if (before !== "" && `${name}: ${before}`.length <= LINE_WIDTH) {
    const text = layOut(value, { indent: 0, column: after.length + 3, after: 1 });
    return `${name}: ${before}${newline(2)}${argument}\n${after} = ${text};`;
  }
  // Nothing else fits: the type moves to the next line.
  const text = layOut(value, { indent: 2, column: 2 + type.length + 3, after: 1 });
  return `${name}:${newline(2)}${type} = ${text};`;
}

function printAssignment(head: string, value: Doc): string {
  if (typeof value === "string" && head.length + value.length + 2 > LINE_WIDTH) {
    return `${head}\n  ${value};`;
  }
  const text = layOut(value, { indent: 0, column: head.length + 1, after: 1 });
  return `${head}${text.startsWith("\n") ? "" : " "}${text};`;
}

function printTypeParam({ name, bound, isOptional }: TypeParam): string {
  return `${name} extends ${bound}${isOptional ? ` = ${bound}` : ""}`;
}

/** A type parameter on a line of its own, after the given indentation. */
function layOutTypeParam(param: TypeParam, indent: number): string {
  const text = printTypeParam(param);
  if (!param.isOptional || indent + text.length + 1 <= LINE_WIDTH) {
    return `${newline(indent)}${text},`;
  }
  return `${newline(indent)}${param.name} extends ${param.bound} =${
    newline(indent + 2)
  }${param.bound},`;
}

/** A doc comment with the line break after it; nothing for no text. */
export function printComment(text: string, indent: number): string {
  const clean = text.replaceAll("*/", "*\\/").trim();
  if (clean === "") return "";
  const lines = clean.split("\n").flatMap((line) => wrap(line.trimEnd(), LINE_WIDTH - indent - 3));
  const margin = " ".repeat(indent);
  const [only] = lines;
  if (lines.length === 1 && only !== undefined && indent + only.length + 7 <= LINE_WIDTH) {
    return `${margin}/** ${only} */\n`;
  }
  const body = lines.map((line) => `${margin} *${line === "" ? "" : ` ${line}`}\n`).join("");
  return `${margin}/**\n${body}${margin} */\n`;
}

/** Breaks a line of prose between words; indented lines and lists are left as they are. */
export function wrap(line: string, width: number): string[] {
  if (line.length <= width || /^\s/.test(line)) return [line];
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else {
      current = current === "" ? word : `${current} ${word}`;
    }
  }
  return [...lines, current];
}

function printInterface(declaration: InterfaceStructure, keyword: string): string {
  const name = `${keyword}interface ${declaration.name}`;
  const params = declaration.typeParams;
  const flatName = params.length === 0 ? name : `${name}<${params.map(printTypeParam).join(", ")}>`;
  const base = declaration.extends === undefined ? "" : `extends ${flat(declaration.extends)}`;
  const members = declaration.members.map(printMember).join("");
  return `${printHeading(name, flatName, params, base)}{${members === "" ? "" : `\n${members}`}}`;
}

function printHeading(
  name: string,
  flatName: string,
  params: readonly TypeParam[],
  base: string,
): string {
  const oneLine = base === "" ? `${flatName} ` : `${flatName} ${base} `;
  if (oneLine.length + 1 <= LINE_WIDTH) return oneLine;
  if (base !== "" && flatName.length <= LINE_WIDTH && base.length + 4 <= LINE_WIDTH) {
    return `${flatName}\n  ${base} `;
  }
  const lines = params.map((param) => layOutTypeParam(param, 2)).join("");
  return `${name}<${lines}\n> ${base === "" ? "" : `${base} `}`;
}

function printMember(member: MemberStructure): string {
  const comment = printComment(member.doc, 2);
  if (member.kind === "method") return `${comment}  ${printMethod(member)};\n`;
  const head = `readonly ${member.name}${member.isOptional ? "?" : ""}:`;
  const text = layOut(member.type, { indent: 2, column: head.length + 3, after: 1 });
  return `${comment}  ${head}${text.startsWith("\n") ? "" : " "}${text};\n`;
}

type MethodStructure = Extract<MemberStructure, { readonly kind: "method" }>;

/** A parameter on a line of its own; the members of an object and the parts of an intersection on several. */
function layOutParam(param: string): string {
  if (4 + param.length + 1 <= LINE_WIDTH) return param;
  const [, head, members] = /^(\w+: )\{ (.*) \}$/.exec(param) ?? [];
  if (head !== undefined && members !== undefined) {
    const lines = members.split("; ").map((member) => `${newline(6)}${member};`);
    return `${head}{${lines.join("")}${newline(4)}}`;
  }
  return param.replace(": ", `:${newline(6)}& `).replaceAll(/ & (?=\w+$)/g, `${newline(6)}& `);
}

function printMethod({ name, typeParams, params, returns }: MethodStructure): string {
  const types = typeParams.length === 0 ? "" : `<${typeParams.map(printTypeParam).join(", ")}>`;
  const tail = `: ${flat(returns)}`;
  const list = params.join(", ");
  const oneLine = `${name}${types}(${list})${tail}`;
  if (2 + oneLine.length + 1 <= LINE_WIDTH) return oneLine;
  const brokenParams = `(${params.map((param) => `${newline(4)}${layOutParam(param)},`).join("")}${
    newline(2)
  })${tail}`;
  if (2 + name.length + types.length + 1 <= LINE_WIDTH) return `${name}${types}${brokenParams}`;
  const brokenTypes = `<${typeParams.map((param) => layOutTypeParam(param, 4)).join("")}${
    newline(2)
  }>`;
  const rest = `(${list})${tail}`;
  return 2 + 1 + rest.length + 1 <= LINE_WIDTH
    ? `${name}${brokenTypes}${rest}`
    : `${name}${brokenTypes}${brokenParams}`;
}
