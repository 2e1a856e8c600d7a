/** Replaces calls in one kernel by the bodies of functions. */
import { must } from "../../support/bug.ts";
import type {
  Instruction,
  Item,
  Operand,
  PtxCode,
  PtxFunction,
  PtxKernel,
  PtxLocation,
} from "../func.ts";
import { KernelDraft } from "./draft.ts";
import { bindCall, instruction } from "./pass.ts";
import { renamedBody } from "./rename.ts";

/** What can be called. */
export interface Callees {
  readonly inlinable: ReadonlyMap<string, PtxFunction>;
  /** Names in the module of the variables of functions that exist once. */
  readonly statics: ReadonlyMap<PtxFunction, ReadonlyMap<string, string>>;
  /** Names of the module. */
  readonly globals: Iterable<string>;
  /** Items that kernels of the module may still have; expanding takes them. */
  readonly left: { items: number };
}

/** Where a function was called. */
interface Caller extends PtxLocation {
  readonly function: string;
}

/** The most items of a kernel whose calls are expanded: functions may call the next one twice, thirty deep. */
export const MOST_ITEMS = 1 << 18;
/** The same for all kernels of a module together. */
export const MOST_MODULE_ITEMS = 1 << 21;

/** The function that a direct call names. */
export function calledName(item: Item): string | undefined {
  if (item.kind !== "instruction" || item.opcode !== "call") return undefined;
  const callee = item.operands.find(({ kind }) => kind !== "list");
  return callee?.kind === "symbol" ? callee.name : undefined;
}

const symbol = (name: string): Operand => ({ kind: "symbol", name });

/** Items that are being appended, and what comes after them. */
interface Activation {
  readonly items: readonly Item[];
  readonly caller: Caller | undefined;
  readonly after: readonly Item[];
  /** How many have been appended, and where the last of them belongs to. */
  next: number;
  location: PtxLocation | undefined;
}

class Expansion {
  readonly draft: KernelDraft;
  /** Calls that are being expanded, innermost last; they may be deeper than the host's stack. */
  readonly #active: Activation[] = [];

  constructor(kernel: PtxKernel, readonly callees: Callees) {
    this.draft = new KernelDraft(kernel, callees.globals);
  }

  /** Appends items with their calls expanded. The function whose call makes it too large, if one does. */
  expand(items: readonly Item[]): string | undefined {
    const { draft: { body }, callees: { inlinable, left } } = this;
    this.#active.push({ items, caller: undefined, after: [], next: 0, location: undefined });
    for (let active = this.#active.at(-1); active !== undefined; active = this.#active.at(-1)) {
      const item = active.items[active.next++];
      if (item === undefined) {
        for (const each of active.after) body.push(each);
        this.#active.pop();
        continue;
      }
      const name = calledName(item);
      const fn = name === undefined ? undefined : inlinable.get(name);
      if (item.kind === "instruction" && fn !== undefined) {
        if (body.length >= Math.min(MOST_ITEMS, left.items)) return name;
        this.#call(item, fn, active.location);
      } else if (item.kind === "loc") {
        const { file, line, column } = item;
        active.location = { file, line, column };
        body.push(active.caller === undefined ? item : { inlined: active.caller, ...item });
      } else body.push(item);
    }
    left.items -= body.length;
    return undefined;
  }

  /** Makes the body of a function what is appended next. */
  #call(call: Instruction, fn: PtxFunction, location: PtxLocation | undefined): void {
    const { draft } = this;
    const { guard } = call;
    const code = must(fn.code, "body of a function that can be inlined");
    const binding = bindCall(draft, fn, call, new Map(this.callees.statics.get(fn)));
    const [end, skip] = [draft.label(`${fn.name}_end`), draft.label(`${fn.name}_skip`)];
    const items = renamedBody(draft, fn, code, binding, end);
    const isJump = (item: Item | undefined): boolean =>
      item?.kind === "instruction" && item.opcode === "bra" &&
      item.operands.some((operand) => operand.kind === "symbol" && operand.name === end);
    // A return at the very end needs no jump.
    const last = items.at(-1);
    if (isJump(last) && last?.kind === "instruction" && last.guard === undefined) items.pop();

    if (guard !== undefined) {
      const otherwise = { ...guard, negated: !guard.negated };
      draft.body.push({ ...instruction("bra", symbol(skip)), guard: otherwise });
    }
    for (const item of binding.before) draft.body.push(item);
    const after: Item[] = [];
    if (items.some(isJump)) after.push({ kind: "label", name: end });
    if (location !== undefined && items.some(({ kind }) => kind === "loc")) {
      after.push({ kind: "loc", ...location });
    }
    for (const item of binding.after) after.push(item);
    if (guard !== undefined) after.push({ kind: "label", name: skip });
    const caller = location === undefined ? undefined : { function: fn.name, ...location };
    this.#active.push({ items, caller, after, next: 0, location: undefined });
  }
}

/** Accesses to variables that were in the space of parameters and are local ones now. */
function localAccess(item: Item, draft: KernelDraft): Item {
  if (item.kind !== "instruction") return item;
  const { opcode, modifiers, operands } = item;
  if (opcode !== "ld" && opcode !== "st") return item;
  const isOwn = operands.some((operand) =>
    operand.kind === "address" && operand.base?.kind === "symbol" &&
    draft.hasVariable(operand.base.name)
  );
  if (!isOwn) return item;
  const spaces = modifiers.map((name) =>
    name === "param" || name === "param::func" ? "local" : name
  );
  return { ...item, modifiers: spaces };
}

/** The code of a kernel with calls expanded; of one that is too large a call of the same function, which fails. */
export function expandKernel(kernel: PtxKernel, callees: Callees): PtxCode {
  const expansion = new Expansion(kernel, callees);
  const tooMuch = expansion.expand(kernel.body);
  if (tooMuch !== undefined) {
    return { registers: [], variables: [], body: [instruction("call", symbol(tooMuch))] };
  }
  const { draft } = expansion;
  return {
    registers: draft.registers,
    variables: draft.variables,
    body: draft.body.map((item) => localAccess(item, draft)),
  };
}
