/** Replaces calls in one kernel by the bodies of functions. */
import { must } from "../support/bug.ts";
import type {
  Instruction,
  Item,
  Operand,
  PtxCode,
  PtxFunction,
  PtxKernel,
  PtxPlace,
} from "./func.ts";
import { KernelDraft } from "./inline_draft.ts";
import { bindCall, instruction } from "./inline_pass.ts";
import { renamedBody } from "./inline_rename.ts";

/** What can be called. */
export interface Callees {
  readonly inlinable: ReadonlyMap<string, PtxFunction>;
  /** Names in the module of the variables of functions that exist once. */
  readonly statics: ReadonlyMap<PtxFunction, ReadonlyMap<string, string>>;
  /** Names of the module. */
  readonly globals: Iterable<string>;
}

/** Where a function was called. */
interface Caller extends PtxPlace {
  readonly function: string;
}

/** Kernels with more items keep their further calls: functions that call the next one twice, thirty deep. */
const MOST_ITEMS = 1 << 18;

/** The function that a direct call names. */
export function calledName(item: Item): string | undefined {
  if (item.kind !== "instruction" || item.opcode !== "call") return undefined;
  const callee = item.operands.find(({ kind }) => kind !== "list");
  return callee?.kind === "symbol" ? callee.name : undefined;
}

const symbol = (name: string): Operand => ({ kind: "symbol", name });

class Expansion {
  readonly draft: KernelDraft;

  constructor(kernel: PtxKernel, readonly callees: Callees) {
    this.draft = new KernelDraft(kernel, callees.globals);
  }

  /** Appends items with their calls expanded. */
  expand(items: readonly Item[], caller: Caller | undefined): void {
    const { body } = this.draft;
    let place: PtxPlace | undefined;
    for (const item of items) {
      const name = calledName(item);
      const fn = name === undefined ? undefined : this.callees.inlinable.get(name);
      if (item.kind === "instruction" && fn !== undefined && body.length < MOST_ITEMS) {
        this.#call(item, fn, place);
      } else if (item.kind === "loc") {
        const { file, line, column } = item;
        place = { file, line, column };
        body.push(caller === undefined ? item : { inlined: caller, ...item });
      } else body.push(item);
    }
  }

  #call(call: Instruction, fn: PtxFunction, place: PtxPlace | undefined): void {
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
    draft.body.push(...binding.before);
    this.expand(items, place === undefined ? undefined : { function: fn.name, ...place });
    if (items.some(isJump)) draft.body.push({ kind: "label", name: end });
    if (place !== undefined && items.some(({ kind }) => kind === "loc")) {
      draft.body.push({ kind: "loc", ...place });
    }
    draft.body.push(...binding.after);
    if (guard !== undefined) draft.body.push({ kind: "label", name: skip });
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

/** The code of a kernel with calls expanded. */
export function expandKernel(kernel: PtxKernel, callees: Callees): PtxCode {
  const expansion = new Expansion(kernel, callees);
  expansion.expand(kernel.body, undefined);
  const { draft } = expansion;
  return {
    registers: draft.registers,
    variables: draft.variables,
    body: draft.body.map((item) => localAccess(item, draft)),
  };
}
