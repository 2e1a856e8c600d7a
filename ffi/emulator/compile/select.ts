/**
 * How each instruction is done: by a primitive in WebAssembly if there is one, else by the handler of its family, else
 * lane by lane from its definition.
 */
import type { Match } from "../../../compiler/ptx/match.ts";
import { MEMORY } from "../access/mod.ts";
import { ASYNC } from "../async/mod.ts";
import { COLLECTIVES } from "../collective/mod.ts";
import { Fault } from "../fault.ts";
import { CARRY_HANDLERS, compileLanes, laneOperation } from "../lanes/mod.ts";
import type { Handler, HandlerContext, WarpFunction } from "../machine.ts";
import { MATRIX } from "../matrix/mod.ts";
import { wasmForm } from "../wasm/mod.ts";
import type { Argument } from "../wasm/primitive.ts";
import { clockRead } from "./clock.ts";
import type { Step, StepArgument } from "./emit.ts";
import type { Line } from "./lines.ts";

const CONTROL: Readonly<Record<string, Handler>> = {
  trap: (_, { site }) => (_w, mask) => {
    throw new Fault("trap", "the kernel gave up", 31 - Math.clz32(mask & -mask), site);
  },
  brkpt: () => () => {},
  pmevent: () => () => {},
};

/** The tables of the families; no opcode is in two of them. */
export const HANDLER_TABLES: readonly Readonly<Record<string, Handler>>[] = [
  CONTROL,
  MEMORY,
  ASYNC,
  COLLECTIVES,
  CARRY_HANDLERS,
  MATRIX,
];

const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  HANDLER_TABLES.flatMap((table) => Object.entries(table)),
);

/** Instructions whose accesses are checked and counted; parameters and constants need none of that. */
function isObserved({ opcode, bound }: Match): boolean {
  if (opcode !== "ld" && opcode !== "st") return false;
  const space = bound.get("SPACE") ?? "";
  return !space.startsWith("param");
}

/** The step that does a line. */
export function selectStep(line: Line, context: HandlerContext): Step {
  const { match } = line;
  const { machine, site } = context;
  if (typeof match === "string") {
    const isKnown = match.includes("not supported");
    return failing(isKnown ? "unsupported instruction" : "illegal instruction", match, context);
  }
  try {
    const clock = readsClock(match, context);
    if (clock !== undefined) return { kind: "function", run: clock };
    const handler = HANDLERS.get(match.opcode);
    const observing = machine.checks || machine.profile;
    const primitive = observing && isObserved(match) ? undefined : wasmForm(match);
    if (primitive !== undefined) {
      return {
        kind: "primitive",
        primitive,
        args: primitive.arguments.map((argument) => resolve(argument, context)),
        otherwise: primitive.declines ? handler?.(match, context) : undefined,
      };
    }
    if (handler !== undefined) return { kind: "function", run: handler(match, context) };
    const operation = laneOperation(match);
    if (operation !== undefined) {
      return { kind: "function", run: compileLanes(match, operation, context) };
    }
  } catch (error) {
    // What cannot be compiled fails when it is reached, if it ever is.
    if (!(error instanceof Fault)) throw error;
    return {
      kind: "function",
      run: () => {
        throw new Fault(error.kind, error.detail, error.lane, site);
      },
    };
  }
  const { opcode, row } = match;
  return failing(
    "unsupported instruction",
    `the emulator has no ${opcode} (PTX ISA 9.0, section ${row.isa})`,
    context,
  );
}

function failing(
  kind: "illegal instruction" | "unsupported instruction",
  detail: string,
  { site }: HandlerContext,
): Step {
  return {
    kind: "function",
    run: (_w, mask) => {
      throw new Fault(kind, detail, 31 - Math.clz32(mask & -mask), site);
    },
  };
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
    case "frame":
      return { kind: "row", row: 0 };
  }
}
