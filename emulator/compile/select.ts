/**
 * How each instruction is done: by a primitive in WebAssembly if there is one, else by the handler of its family, else
 * lane by lane from its definition.
 */
import type { Instruction, Operand } from "../../compiler/ptx/func.ts";
import { findRow, type Match } from "../../compiler/ptx/match.ts";
import { MEMORY } from "../access/mod.ts";
import { ASYNC } from "../async/mod.ts";
import { CALLS } from "../calls/mod.ts";
import { COLLECTIVES } from "../collective/mod.ts";
import { observedOf } from "../debug/observer.ts";
import { Fault, type FaultKind } from "../fault.ts";
import { CARRY_HANDLERS, compileLanes, laneOperation } from "../lanes/mod.ts";
import type { Handler, HandlerContext, WarpFunction } from "../machine.ts";
import { MATRIX } from "../matrix/mod.ts";
import { isConstantSpecial } from "../schedule/specials.ts";
import { wasmForm } from "../wasm/mod.ts";
import type { Argument } from "../wasm/primitive.ts";
import { clockRead } from "./clock.ts";
import type { Step, StepArgument } from "./emit.ts";
import type { Line } from "./lines.ts";
import { GRID_BARRIER, refusalOf } from "../refusals.ts";

const CONTROL: Readonly<Record<string, Handler>> = {
  trap: (_, { site, surroundings }) => (_w, mask) => {
    const lane = 31 - Math.clz32(mask & -mask);
    if (surroundings?.wantsGridBarrier() !== true) {
      throw new Fault("trap", "the kernel gave up", lane, site);
    }
    const { what, hint } = GRID_BARRIER;
    throw new Fault("trap", `the kernel gave up: ${what}`, lane, site, undefined, hint);
  },
  brkpt: () => () => {},
  pmevent: () => () => {},
};

/** The tables of the families; no opcode is in two of them. */
export const HANDLER_TABLES: readonly Readonly<Record<string, Handler>>[] = [
  CONTROL,
  CALLS,
  MEMORY,
  ASYNC,
  COLLECTIVES,
  CARRY_HANDLERS,
  MATRIX,
];

const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  HANDLER_TABLES.flatMap((table) => Object.entries(table)),
);

/** Instructions whose accesses are checked and counted; parameters of the kernel need none of that. */
function isObserved({ opcode, operands }: Match, context: HandlerContext): boolean {
  if (opcode !== "ld" && opcode !== "st") return false;
  const address = operands.find(({ operand }) => operand.kind === "address")?.operand;
  const base = address?.kind === "address" ? address.base : undefined;
  return base?.kind !== "symbol" || address === undefined ||
    context.address(address).space !== "param";
}

/** Whether an address is a register and an offset beyond 32 bits, which primitives do not have. */
function isFar({ operands }: Match, context: HandlerContext): boolean {
  return operands.some(({ operand }) => {
    if (operand.kind !== "address" || operand.base?.kind !== "register") return false;
    const { offset } = context.address(operand);
    return offset !== (offset | 0);
  });
}

/** How an instruction is done. */
export interface Choice {
  /** A primitive, the function that its family has, or its definition for each lane. */
  readonly way: "WebAssembly" | "handler" | "definition";
  readonly step: Step;
}

/** How an instruction is done; undefined if the emulator has no way. Throws the fault of what cannot be compiled. */
export function chooseStep(match: Match, context: HandlerContext): Choice | undefined {
  const { machine } = context;
  const clock = readsClock(match, context);
  if (clock === undefined) refuseSpecials(match);
  else return { way: "handler", step: { kind: "function", run: clock } };
  const handler = HANDLERS.get(match.opcode);
  const observing = machine.checks || machine.profile || observedOf(machine) !== undefined;
  const primitive = (observing && isObserved(match, context)) || isFar(match, context)
    ? undefined
    : wasmForm(match);
  if (primitive !== undefined) {
    const step: Step = {
      kind: "primitive",
      primitive,
      args: primitive.arguments.map((argument) => resolve(argument, context)),
      otherwise: primitive.declines ? handler?.(match, context) : undefined,
    };
    return { way: "WebAssembly", step };
  }
  if (handler !== undefined) {
    return { way: "handler", step: { kind: "function", run: handler(match, context) } };
  }
  const operation = laneOperation(match);
  if (operation === undefined) return undefined;
  const run = compileLanes(match, operation, context);
  return { way: "definition", step: { kind: "function", run } };
}

/** The step that does a line. What cannot be compiled fails when it is reached, if it ever is. */
export function selectStep(line: Line, context: HandlerContext): Step {
  const { match } = line;
  if (typeof match === "string") {
    return refused(line.instruction, match, context);
  }
  try {
    const choice = chooseStep(match, context);
    if (choice !== undefined) return choice.step;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { kind, detail, hint } = error;
    return kind === "unsupported instruction"
      ? unsupported(match, { what: detail, hint }, context)
      : failing(kind, detail, context, hint);
  }
  const refusal = refusalOf(match.opcode);
  const what = refusal === undefined
    ? `the emulator has no ${match.opcode}`
    : `${match.opcode}: ${refusal.what}`;
  return unsupported(match, { what, hint: refusal?.hint }, context);
}

/** An instruction that has no form, with what is wrong with it. */
function refused(
  { opcode, modifiers }: Instruction,
  problem: string,
  context: HandlerContext,
): Step {
  const row = findRow(opcode, modifiers)?.row;
  const isSupported = row !== undefined && !problem.includes("not supported");
  const about = row === undefined || problem.includes("PTX ISA")
    ? ""
    : ` (PTX ISA 9.0, section ${row.isa})`;
  const kind = isSupported ? "illegal instruction" : "unsupported instruction";
  return failing(kind, `${problem}${about}`, context, refusalOf(opcode)?.hint);
}

/** What is not done, and what to do instead if there is something. */
interface Unsupported {
  readonly what: string;
  readonly hint: string | undefined;
}

function unsupported({ row }: Match, { what, hint }: Unsupported, context: HandlerContext): Step {
  const about = /PTX ISA|Programming Guide/.test(what) ? "" : ` (PTX ISA 9.0, section ${row.isa})`;
  return failing("unsupported instruction", `${what}${about}`, context, hint);
}

function failing(
  kind: FaultKind,
  detail: string,
  { site }: HandlerContext,
  hint?: string,
): Step {
  return {
    kind: "function",
    run: (_w, mask) => {
      throw new Fault(kind, detail, 31 - Math.clz32(mask & -mask), site, undefined, hint);
    },
  };
}

/** Clocks are read by mov alone; other names have no value. */
function refuseSpecials({ operands }: Match): void {
  const refuse = (operand: Operand): void => {
    if (operand.kind === "vector") operand.elements.forEach(refuse);
    if (operand.kind !== "special" || isConstantSpecial(operand.name)) return;
    throw new Fault(
      "unsupported instruction",
      `%${operand.name} is not declared, and no special register that the emulator reads here ` +
        "(PTX ISA 9.0, chapter 10)",
    );
  };
  for (const { operand } of operands) refuse(operand);
}

function readsClock(match: Match, context: HandlerContext): WarpFunction | undefined {
  const [target, source] = match.operands;
  if (match.opcode !== "mov" || target === undefined || source?.operand.kind !== "special") {
    return undefined;
  }
  const row = context.row(target.operand, target.type);
  return clockRead(context.machine, source.operand.name, row);
}

function resolve(argument: Argument, context: HandlerContext): StepArgument {
  switch (argument.kind) {
    case "row":
      return { kind: "row", row: context.row(argument.operand, argument.type) };
    case "predicate":
      return { kind: "row", row: context.predicate(argument.operand).row };
    case "invert":
      return { kind: "number", value: context.predicate(argument.operand).invert };
    case "base":
      return { kind: "row", row: context.address(argument.operand).row ?? 0 };
    case "offset":
      return { kind: "number", value: context.address(argument.operand).offset | 0 };
    case "register file":
      return { kind: "row", row: 0 };
  }
}
