/** PTX modules as text. Printing, nothing else. */
import type {
  Instruction,
  Item,
  Operand,
  PtxKernel,
  PtxModule,
  PtxParam,
  PtxReference,
  PtxVariable,
  Register,
} from "./func.ts";

function printFloat(type: "f32" | "f64", bits: bigint): string {
  const digits = bits.toString(16).toUpperCase();
  return type === "f32" ? `0f${digits.padStart(8, "0")}` : `0d${digits.padStart(16, "0")}`;
}

/** `+4`, `+-4` (ptxas takes no bare minus), nothing for 0. */
const printOffset = (offset: bigint): string => offset === 0n ? "" : `+${offset}`;

function printAddress(operand: Extract<Operand, { kind: "address" }>): string {
  const { base, offset, coordinates } = operand;
  const place = base === undefined ? `${offset}` : `${printOperand(base)}${printOffset(offset)}`;
  return coordinates === undefined ? `[${place}]` : `[${place}, ${printOperand(coordinates)}]`;
}

/** An operand as PTX writes it. */
export function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case "register":
      return `%${operand.name}`;
    case "integer":
      return `${operand.value}`;
    case "float":
      return printFloat(operand.type, operand.bits);
    case "special":
      return `%${operand.name}`;
    case "symbol":
      return operand.name;
    case "address":
      return printAddress(operand);
    case "vector":
      return `{${operand.elements.map(printOperand).join(", ")}}`;
    case "pair":
      return `${printOperand(operand.first)}|${printOperand(operand.second)}`;
    case "negated":
      return `!${printOperand(operand.operand)}`;
    case "sink":
      return "_";
  }
}

/** An instruction with its guard and semicolon. */
export function printInstruction(instruction: Instruction): string {
  const guard = instruction.guard === undefined
    ? ""
    : `@${instruction.guard.negated ? "!" : ""}%${instruction.guard.register.name} `;
  const opcode = [instruction.opcode, ...instruction.modifiers].join(".");
  const operands = instruction.operands.map(printOperand).join(", ");
  return `${guard}${opcode}${operands === "" ? "" : ` ${operands}`};`;
}

function printItem(item: Item): string {
  switch (item.kind) {
    case "instruction":
      return `  ${printInstruction(item)}`;
    case "label":
      return `${item.name}:`;
    case "targets":
      return `${item.name}: .branchtargets ${item.labels.join(", ")};`;
    case "loc":
      return `  .loc ${item.file} ${item.line} ${item.column}`;
    case "pragma":
      return `  .pragma "${item.text}";`;
    case "comment":
      return `  // ${item.text}`;
  }
}

function printInitial(type: string, value: bigint | PtxReference): string {
  if (typeof value === "bigint") {
    return type === "f32" || type === "f64" ? printFloat(type, value) : `${value}`;
  }
  const place = `${value.symbol}${printOffset(value.offset)}`;
  return value.generic ? `generic(${place})` : place;
}

/** The declaration of a variable, with its semicolon. */
export function printVariable(variable: PtxVariable): string {
  const { type, count, initial } = variable;
  const values = initial?.map((value) => printInitial(type, value)).join(", ");
  const parts = [
    variable.extern ? ".extern " : variable.visible ? ".visible " : "",
    `.${variable.space} `,
    variable.align === undefined ? "" : `.align ${variable.align} `,
    `.${type} ${variable.name}`,
    count === undefined ? "" : count === 0 ? "[]" : `[${count}]`,
    values === undefined ? "" : count === undefined ? ` = ${values}` : ` = {${values}}`,
  ];
  return `${parts.join("")};`;
}

/** A name's prefix and its number, which has no leading zeros; -1 for names without. */
function splitName(name: string): { prefix: string; index: number } {
  const [, prefix, index] = /^(.*?)(0|[1-9]\d{0,8})$/.exec(name) ?? [];
  return prefix === undefined || prefix === "" || index === undefined
    ? { prefix: name, index: -1 }
    : { prefix, index: Number(index) };
}

/** Declares `r0 … r41` as `.reg .b32 %r<42>` where the names allow, singly otherwise. */
function printRegisters(registers: readonly Register[]): string[] {
  const groups = new Map<string, { type: string; prefix: string; indices: number[] }>();
  for (const { name, type } of registers) {
    const { prefix, index } = splitName(name);
    const key = `${type} ${prefix}`;
    const group = groups.get(key) ?? { type, prefix, indices: [] };
    group.indices.push(index);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap(({ type, prefix, indices }) => {
    if (indices.every((index, i) => index === i)) {
      return [`  .reg .${type} %${prefix}<${indices.length}>;`];
    }
    return indices.map((index) => `  .reg .${type} %${prefix}${index < 0 ? "" : index};`);
  });
}

function printParam(param: PtxParam): string {
  const align = param.align === undefined ? "" : `.align ${param.align} `;
  const { space, align: target } = param.pointer ?? {};
  const pointer = param.pointer === undefined
    ? ""
    : ` .ptr${space === undefined ? "" : ` .${space}`}${
      target === undefined ? "" : ` .align ${target}`
    }`;
  const bytes = param.bytes === undefined ? "" : `[${param.bytes}]`;
  return `  .param ${align}.${param.type}${pointer} ${param.name}${bytes}`;
}

/** One entry; its external variables are printed with the module. */
export function printKernel(kernel: PtxKernel): string {
  return [
    `.visible .entry ${kernel.name}(`,
    kernel.params.map(printParam).join(",\n"),
    ")",
    ...kernel.directives.map(({ name, values }) => `.${name} ${values.join(", ")}`.trimEnd()),
    "{",
    ...printRegisters(kernel.registers),
    ...kernel.variables.filter((v) => !v.extern).map((v) => `  ${printVariable(v)}`),
    ...kernel.body.map(printItem),
    "}",
  ].filter((line) => line !== "").join("\n");
}

/** A whole module. */
export function printModule(module: PtxModule): string {
  const externs = new Map<string, PtxVariable>();
  for (const kernel of module.kernels) {
    for (const variable of kernel.variables) {
      if (variable.extern) externs.set(variable.name, variable);
    }
  }
  return [
    `.version ${Math.floor(module.version / 10)}.${module.version % 10}`,
    `.target ${module.target}`,
    ".address_size 64",
    "",
    ...module.files.map((file, i) => `.file ${i + 1} "${file}"`),
    ...[...module.variables, ...externs.values()].map(printVariable),
    ...module.kernels.map((kernel) => `\n${printKernel(kernel)}`),
    "",
  ].join("\n");
}
