/** PTX modules as text. Printing, nothing else. */
import type { Instruction, Item, Operand, PtxKernel, PtxModule, PtxVariable, Register } from "./func.ts";

export function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case "register":
      return `%${operand.name}`;
    case "integer":
      return `${operand.value}`;
    case "float":
      return operand.type === "f32"
        ? `0f${operand.bits.toString(16).toUpperCase().padStart(8, "0")}`
        : `0d${operand.bits.toString(16).toUpperCase().padStart(16, "0")}`;
    case "special":
      return `%${operand.name}`;
    case "symbol":
      return operand.name;
    case "address": {
      const base = operand.base === undefined ? "" : printOperand(operand.base);
      if (operand.offset === 0n && base !== "") return `[${base}]`;
      return base === "" ? `[${operand.offset}]` : `[${base}${operand.offset < 0n ? "" : "+"}${operand.offset}]`;
    }
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
    case "loc":
      return `  .loc ${item.file} ${item.line} ${item.column}`;
    case "comment":
      return `  // ${item.text}`;
  }
}

export function printVariable(variable: PtxVariable): string {
  const parts = [
    variable.extern ? ".extern " : variable.visible ? ".visible " : "",
    `.${variable.space} `,
    variable.align === undefined ? "" : `.align ${variable.align} `,
    `.${variable.type} ${variable.name}`,
    variable.count === undefined ? "" : variable.count === 0 ? "[]" : `[${variable.count}]`,
    variable.initial === undefined ? "" : ` = {${variable.initial.join(", ")}}`,
  ];
  return `${parts.join("")};`;
}

/** Declares `r0 … r41` as `.reg .b32 %r<42>` where the names allow, singly otherwise. */
function printRegisters(registers: readonly Register[]): string[] {
  const groups = new Map<string, { type: string; indices: number[] }>();
  for (const { name, type } of registers) {
    const [, prefix = name, index = ""] = /^(.*?)(\d+)$/.exec(name) ?? [];
    const key = `${type} ${prefix}`;
    const group = groups.get(key) ?? { type, indices: [] };
    group.indices.push(index === "" ? -1 : Number(index));
    groups.set(key, group);
  }
  return [...groups].flatMap(([key, { type, indices }]) => {
    const prefix = key.slice(type.length + 1);
    const dense = indices.every((index, i) => index === i);
    if (dense) return [`  .reg .${type} %${prefix}<${indices.length}>;`];
    return indices.map((index) => `  .reg .${type} %${prefix}${index < 0 ? "" : index};`);
  });
}

export function printKernel(kernel: PtxKernel): string {
  const params = kernel.params.map((param) => {
    const align = param.align === undefined ? "" : `.align ${param.align} `;
    return `  .param ${align}.${param.type} ${param.name}${param.bytes === undefined ? "" : `[${param.bytes}]`}`;
  });
  return [
    `.visible .entry ${kernel.name}(`,
    params.join(",\n"),
    ")",
    ...kernel.directives.map((d) => `.${d.name} ${d.values.join(", ")}`),
    "{",
    ...printRegisters(kernel.registers),
    ...kernel.variables.filter((v) => !v.extern).map((v) => `  ${printVariable(v)}`),
    ...kernel.body.map(printItem),
    "}",
  ].filter((line) => line !== "").join("\n");
}

export function printModule(module: PtxModule): string {
  const externs = new Map<string, PtxVariable>();
  for (const kernel of module.kernels) {
    for (const variable of kernel.variables) if (variable.extern) externs.set(variable.name, variable);
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
