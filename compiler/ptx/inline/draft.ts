/** A kernel that calls are being expanded into: what it has so far, and which names are free. */
import type { Item, PtxCode, PtxFunction, PtxKernel, PtxVariable, Register } from "../func.ts";
import { Names } from "../names.ts";
import { isReserved } from "../special.ts";

export class KernelDraft implements PtxCode {
  readonly registers: Register[];
  readonly variables: PtxVariable[];
  readonly body: Item[] = [];
  readonly #registerNames: Names;
  readonly #symbolNames: Names;
  readonly #ownVariables: Set<string>;
  /** Names of the variables that a function has in this kernel: one set, as no function is active twice. */
  readonly #locals = new Map<PtxFunction, Map<string, string>>();

  constructor(kernel: PtxKernel, globals: Iterable<string>) {
    this.registers = [...kernel.registers];
    this.variables = kernel.variables.map((variable) =>
      variable.space === "param" ? { ...variable, space: "local" } : variable
    );
    this.#registerNames = new Names(kernel.registers.map(({ name }) => name));
    this.#ownVariables = new Set(kernel.variables.map(({ name }) => name));
    const labels = kernel.body.flatMap((item) => "name" in item ? [item.name] : []);
    const params = kernel.params.map(({ name }) => name);
    this.#symbolNames = new Names([...globals, ...labels, ...params, ...this.#ownVariables]);
  }

  /** Whether a name is that of a variable of the kernel itself, no parameter of it. */
  hasVariable(name: string): boolean {
    return this.#ownVariables.has(name);
  }

  /** A new register, named like one of a function. */
  register(type: Register["type"], name: string): Register {
    const fresh = this.#registerNames.fresh(name, isReserved);
    const register: Register = { kind: "register", type, name: fresh };
    this.registers.push(register);
    return register;
  }

  /** A new name for a label. */
  label(name: string): string {
    return this.#symbolNames.fresh(name);
  }

  /** The kernel's own variable for one of a function. */
  local(fn: PtxFunction, variable: PtxVariable): string {
    const names = this.#locals.get(fn) ?? new Map<string, string>();
    this.#locals.set(fn, names);
    const known = names.get(variable.name);
    if (known !== undefined) return known;
    const name = this.#symbolNames.fresh(`${fn.name}_${variable.name}`);
    names.set(variable.name, name);
    this.#ownVariables.add(name);
    this.variables.push({ ...variable, name, space: "local" });
    return name;
  }
}
