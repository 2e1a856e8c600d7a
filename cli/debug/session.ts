/** Requests of an editor on a launch that is walked through. */
import type {
  BreakpointAnswer,
  DebugLaunch,
  NamedValue,
  Quantity,
  StopReason,
  Until,
  Watchpoint,
} from "../../ffi/mod.ts";
import { isRecord } from "../json.ts";
import type { Channel, Request } from "./channel.ts";
import type { LaunchArguments } from "./launch.ts";
import { pictureRequests } from "./pictures.ts";
import { elementAt, readElement } from "./tensors.ts";

/** What a request gets; a string is why it cannot be done. */
type Reply = Readonly<Record<string, unknown>> | string | undefined;

/** A name and what it is now. */
interface Variable {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
  /** Not 0: it has elements, which can be asked for by this number. */
  readonly variablesReference: number;
  readonly indexedVariables?: number;
}

/** What can be looked at in a frame; the reference of a scope is that of its frame and its number here. */
const SCOPES = ["Variables", "Position", "Parameters", "Registers"] as const;

/** References from here on are of tiles: of a frame, and by their number among its variables. */
const FIRST_TILE = 1_000_000;
const MOST_VARIABLES = 10_000;

/** Elements of a tile that are shown. */
const MOST_ELEMENTS = 64;
/** Elements of a tile in its own line. */
const MOST_SHORT = 8;
/** What is said of elements by their kinds. */
const KINDS = ["in registers", "computed", "not set yet", "gone"] as const;

const STOPPED: Readonly<Record<StopReason["kind"], string>> = {
  step: "step",
  breakpoint: "breakpoint",
  watchpoint: "data breakpoint",
  fault: "exception",
  condition: "breakpoint",
  limit: "step",
  start: "entry",
  end: "step",
};

const records = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

const textOf = (value: unknown): string => typeof value === "string" ? value : "";

const variable = (name: string, value: string, type?: string): Variable => ({
  name,
  value,
  ...(type === undefined ? {} : { type }),
  variablesReference: 0,
});

function spell(quantity: Quantity): string {
  if (typeof quantity === "number") return String(quantity);
  const { shape, values } = quantity;
  const shown = Array.from({ length: Math.min(values.length, MOST_ELEMENTS) }, (_, i) => values[i]);
  const rest = values.length > shown.length ? ", …" : "";
  return `[${shape.join(", ")}] {${shown.join(", ")}${rest}}`;
}

/** An element as it is known. */
function spellElement({ values, kinds }: NamedValue, index: number): string {
  const unknown = ["", "", "not set yet", "gone"][kinds[index] ?? 3] ?? "";
  return unknown === "" ? String(values[index]) : unknown;
}

/** The first elements of a variable, and how those of a tile are known. */
function spellValue(value: NamedValue): string {
  if (value.shape.length === 0) return spellElement(value, 0);
  const { length } = value.kinds;
  const shown = Array.from(
    { length: Math.min(length, MOST_SHORT) },
    (_, index) => spellElement(value, index),
  );
  return `{${shown.join(", ")}${length > shown.length ? ", …" : ""}} ${kindsOf(value)}`;
}

/** How many elements are known how. */
function kindsOf({ kinds }: NamedValue): string {
  const counts = KINDS.map((says, kind) => ({ says, count: countOf(kinds, kind) }));
  const found = counts.filter(({ count }) => count > 0);
  if (found.length === 1) return found.map(({ says }) => says).join();
  return found.map(({ says, count }) => `${count} ${says}`).join(", ");
}

function countOf(kinds: Uint8Array, wanted: number): number {
  return kinds.reduce((count, kind) => kind === wanted ? count + 1 : count, 0);
}

/** The name of an element: its index by axis. */
function indexOf(shape: readonly number[], element: number): string {
  const index: number[] = [];
  let rest = element;
  for (const extent of shape.toReversed()) {
    index.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return `[${index.join(", ")}]`;
}

/** Answers requests until the editor ends the session. */
export function walkThrough(
  channel: Channel,
  launch: DebugLaunch,
  called: LaunchArguments,
  stopOnEntry: boolean,
): void {
  const { scalars, tensors, pathOf } = called;
  const event = (name: string, body: Readonly<Record<string, unknown>> = {}): void =>
    channel.write({ type: "event", event: name, body });
  let breakpoints: Readonly<Record<string, unknown>>[] = [];
  /** What follows a reply. */
  const following: (() => void)[] = [];

  const stopped = (reason: StopReason): void => {
    const text = reason.kind === "fault"
      ? reason.finding.fault.detail
      : reason.kind === "condition"
      ? reason.message
      : undefined;
    event("stopped", {
      reason: STOPPED[reason.kind],
      threadId: launch.focus.warp + 1,
      allThreadsStopped: true,
      ...(text === undefined ? {} : { description: text, text }),
    });
  };

  const run = (until: Until, direction: 1 | -1 = 1): Reply => {
    following.push(() => {
      const before = launch.position;
      const reason = launch.run(until, direction);
      // After what ends a launch, such as a deadlock, every run gives the same fault.
      const isStuck = reason.kind === "fault" && direction === 1 && launch.position === before;
      if (reason.kind !== "end" && !isStuck) return stopped(reason);
      for (const { fault: { kind, detail, site }, count } of launch.findings) {
        const where = site?.line === undefined ? "" : ` at ${site.file ?? ""}:${site.line}`;
        event("output", { category: "stderr", output: `${kind}${where}, ${count}×: ${detail}\n` });
      }
      event("terminated");
    });
    return {};
  };

  const look = (args: Request["arguments"]): void => {
    const warp = Number(args["threadId"] ?? args["frameId"]) - 1;
    if (warp >= 0 && warp !== launch.focus.warp) launch.focus = { ...launch.focus, warp };
  };

  const step = (direction: 1 | -1) => (args: Request["arguments"]): Reply => {
    look(args);
    return run(args["granularity"] === "instruction" ? "instruction" : "statement", direction);
  };

  const answers = (all: readonly BreakpointAnswer[]): Reply => ({
    breakpoints: all.map(({ verified, message, line }) => ({
      verified,
      ...(message === undefined ? {} : { message }),
      ...(line === 0 ? {} : { line }),
    })),
  });

  const valueOf = (expression: string): string => {
    const element = elementAt(expression, tensors);
    return element === undefined
      ? spell(launch.evaluate(expression))
      : readElement(element, launch);
  };

  const named = (frame: number): Variable[] => {
    const state = launch.state();
    return state.values().flatMap((name, number): Variable[] => {
      const value = state.value(name);
      if (value === undefined) return [];
      const own = variable(name, spellValue(value), value.type);
      if (value.shape.length === 0) return [own];
      const variablesReference = FIRST_TILE + frame * MOST_VARIABLES + number;
      return [{ ...own, variablesReference, indexedVariables: value.kinds.length }];
    });
  };

  const elements = (reference: number, { start, count }: Request["arguments"]): Reply => {
    const number = (reference - FIRST_TILE) % MOST_VARIABLES;
    look({ frameId: Math.floor((reference - FIRST_TILE) / MOST_VARIABLES) });
    const state = launch.state();
    const name = state.values()[number];
    const value = name === undefined ? undefined : state.value(name);
    if (value === undefined) return "there is no such variable here";
    const all = value.kinds.length;
    const first = Math.max(0, Number(start ?? 0));
    const last = count === undefined || count === 0 ? all : Math.min(all, first + Number(count));
    return {
      variables: Array.from({ length: Math.max(0, last - first) }, (_, i) => {
        const says = KINDS[value.kinds[first + i] ?? 3];
        return variable(indexOf(value.shape, first + i), spellElement(value, first + i), says);
      }),
    };
  };

  const variables: Readonly<Record<typeof SCOPES[number], (frame: number) => Variable[]>> = {
    Variables: named,
    Position: () => [
      ...["x", "y", "z"].map((axis, at) =>
        variable(`program_${axis}`, `${launch.focus.program[at]}`)
      ),
      variable("warp", `${launch.focus.warp}`),
      variable("lane", `${launch.focus.lane}`),
      variable("step", `${launch.position}`),
    ],
    Parameters: () => [
      ...tensors.map(({ name, dtype, shape, address }) =>
        variable(name, `0x${address.toString(16)}`, `${dtype}[${shape.join(", ")}]`)
      ),
      ...[...scalars].map(([name, value]) => variable(name, String(value))),
    ],
    Registers: () =>
      launch.state().registers().map(({ name, type, bits, isSet }) =>
        variable(`%${name}`, isSet ? `0x${bits.toString(16)}` : "not set", type)
      ),
  };

  const commands: Readonly<Record<string, (args: Request["arguments"]) => Reply>> = {
    setBreakpoints(args): Reply {
      const source = isRecord(args["source"]) ? args["source"] : {};
      const file = textOf(source["path"]) || textOf(source["name"]);
      const wanted = records(args["breakpoints"]).map((each) => ({ ...each, file }));
      // Each request replaces those of one file.
      const others = breakpoints.filter((each) => each["file"] !== file);
      breakpoints = [...others, ...wanted];
      const all = launch.setBreakpoints(breakpoints.map((each) => ({
        line: Number(each["line"]),
        file: textOf(each["file"]),
        ...(textOf(each["condition"]) === "" ? {} : { condition: textOf(each["condition"]) }),
      })));
      return answers(all.slice(others.length));
    },
    setExceptionBreakpoints(args): Reply {
      const filters = Array.isArray(args["filters"]) ? args["filters"] : [];
      launch.stopsAt = filters.includes("mistakes") ? "all" : "none";
      return {};
    },
    dataBreakpointInfo(args): Reply {
      const name = textOf(args["name"]);
      return tensors.some((tensor) => tensor.name === name)
        ? { dataId: null, description: `${name} is a tensor: name an element, such as ${name}[0]` }
        : { dataId: name, description: name, accessTypes: ["write"] };
    },
    setDataBreakpoints(args): Reply {
      const points = records(args["breakpoints"]).map((each): Watchpoint => {
        const expression = textOf(each["dataId"]);
        const element = elementAt(expression, tensors);
        if (element === undefined) return { kind: "value", expression };
        return { kind: "memory", address: element.address, bytes: element.bytes };
      });
      return answers(launch.setWatchpoints(points));
    },
    configurationDone(): Reply {
      if (!stopOnEntry) return run("end");
      // A breakpoint at the first step is not to stop a second time there.
      launch.goto(0);
      following.push(() => stopped({ kind: "start" }));
      return {};
    },
    threads: () => ({
      threads: Array.from({ length: Math.max(1, launch.state().warps) }, (_, warp) => ({
        id: warp + 1,
        name: `program (${launch.focus.program.join(", ")}), warp ${warp}`,
      })),
    }),
    stackTrace(args): Reply {
      look(args);
      const { site } = launch.state();
      const path = site?.file === undefined ? undefined : pathOf(site.file);
      const frame = {
        id: launch.focus.warp + 1,
        name: site === undefined ? launch.kernel : `${launch.kernel}: ${site.text}`,
        line: site?.line ?? 0,
        column: site?.column ?? 0,
        ...(path === undefined ? {} : { source: { name: path.replace(/^.*\//, ""), path } }),
      };
      return { stackFrames: [frame], totalFrames: 1 };
    },
    scopes: ({ frameId }) => ({
      scopes: SCOPES.map((name, at) => ({
        name,
        variablesReference: Number(frameId) * SCOPES.length + at,
        expensive: false,
      })),
    }),
    variables(args): Reply {
      const reference = Number(args["variablesReference"]);
      if (reference >= FIRST_TILE) return elements(reference, args);
      const frame = Math.floor(reference / SCOPES.length);
      look({ frameId: frame });
      const scope = SCOPES[reference % SCOPES.length];
      return scope === undefined
        ? "there is no such scope"
        : { variables: variables[scope](frame) };
    },
    evaluate(args): Reply {
      look(args);
      return { result: valueOf(textOf(args["expression"])), variablesReference: 0 };
    },
    continue: () => run("end"),
    reverseContinue: () => run("end", -1),
    next: step(1),
    stepIn: step(1),
    stepBack: step(-1),
    stepOut: () => run("program"),
    pause: () => "a run cannot be interrupted: set a breakpoint",
    ...pictureRequests(launch, called, () => following.push(() => stopped({ kind: "step" }))),
  };

  event("initialized");
  for (let request = channel.read(); request !== undefined; request = channel.read()) {
    const { command, arguments: args, seq: request_seq } = request;
    const isEnd = command === "disconnect" || command === "terminate";
    const reply = isEnd ? {} : attempt(() => {
      const answer = Object.hasOwn(commands, command) ? commands[command] : undefined;
      return answer === undefined ? `${command} is not supported` : answer(args);
    });
    const body = typeof reply === "string"
      ? { success: false, message: reply }
      : { success: true, ...(reply === undefined ? {} : { body: reply }) };
    channel.write({ type: "response", request_seq, command, ...body });
    if (isEnd) return;
    // The replies come before the events.
    for (const follow of following.splice(0)) follow();
  }
}

/** A reply, or what is wrong with an expression. */
function attempt(reply: () => Reply): Reply {
  try {
    return reply();
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionError") return error.message;
    throw error;
  }
}
