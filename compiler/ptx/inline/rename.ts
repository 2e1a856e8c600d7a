/** The body of a function under the names that it has in a kernel. */
import type { Item, Operand, PtxCode, PtxFunction, Register } from "../func.ts";
import type { KernelDraft } from "./draft.ts";
import { type Binding, instruction } from "./pass.ts";
import { mapRegisters } from "../operand.ts";

/** Items that have a name in the function. */
function namesOf(code: PtxCode): string[] {
  return code.body.flatMap((item) => "name" in item ? [item.name] : []);
}

/** Copies the body: fresh registers and labels, the kernel's own variables, `bra end` for `ret`. */
export function renamedBody(
  draft: KernelDraft,
  fn: PtxFunction,
  code: PtxCode,
  { symbols, registers }: Binding,
  end: string,
): Item[] {
  for (const variable of code.variables) {
    if (variable.space !== "local" && variable.space !== "param") continue;
    symbols.set(variable.name, draft.local(fn, variable));
  }
  for (const name of namesOf(code)) symbols.set(name, draft.label(name));

  const symbolOf = (name: string): string => symbols.get(name) ?? name;
  const registerOf = ({ type, name }: Register): Register => {
    const register = registers.get(name) ?? draft.register(type, name);
    registers.set(name, register);
    return register;
  };
  const operandOf = (operand: Operand): Operand =>
    mapRegisters(
      operand,
      registerOf,
      (symbol) => ({ ...symbol, name: symbolOf(symbol.name) }),
    );
  return code.body.map((item): Item => {
    switch (item.kind) {
      case "instruction": {
        const guard = item.guard === undefined
          ? {}
          : { guard: { ...item.guard, register: registerOf(item.guard.register) } };
        if (item.opcode === "ret") {
          const jump = instruction(["bra", ...item.modifiers].join("."), {
            kind: "symbol",
            name: end,
          });
          return { ...jump, ...guard };
        }
        return { ...item, operands: item.operands.map(operandOf), ...guard };
      }
      case "label":
      case "functions":
      case "prototype":
        return { ...item, name: symbolOf(item.name) };
      case "targets":
        return { ...item, name: symbolOf(item.name), labels: item.labels.map(symbolOf) };
      default:
        return item;
    }
  });
}
