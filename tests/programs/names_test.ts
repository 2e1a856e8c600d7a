/**
 * Variables by name: wherever a debugger stops, what it says of a variable is what the reference interpreter has there.
 * What random programs, and the constructs of the language, compute with is compared element by element, unless the
 * debugger says that it is not known.
 */
import fc from "../support/property.ts";
import { namesOf } from "../../compiler/driver/names_of.ts";
import type { TypedKernel, TypedStmt, Variable } from "../../compiler/check/tree/typed.ts";
import { KIND } from "../../compiler/names/evaluation.ts";
import type { NamedValue, SourceNames } from "../../compiler/support/variables.ts";
import { must } from "../../compiler/support/bug.ts";
import type { Span } from "../../compiler/support/source.ts";
import type { TargetName } from "../../compiler/targets.ts";
import type { DebugLaunch } from "../../emulator/debug/debug_launch.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { checkText } from "../support/compiler/check.ts";
import { compileFile } from "../support/compile.ts";
import { emulate } from "../support/emulate.ts";
import { anyProgram } from "../support/generate/arbitrary.ts";
import {
  compareElement,
  compareRuns,
  dotMode,
  report,
  runReference,
} from "../support/generate/compare.ts";
import { supportedFeatures } from "../support/generate/features.ts";
import { printProgram } from "../support/generate/tree.ts";
import { type Cell, interpret, NotInterpreted, type Visit } from "../support/reference/mod.ts";
import { sampled } from "../support/sampled.ts";
import { SEED } from "../support/seed.ts";
import { argumentsOf, constantsOf, launchOf, memoriesOfReference } from "./construct_launch.ts";
import { CONSTRUCTS } from "./constructs.ts";
import type { Construct } from "./constructs/construct.ts";
import { textOf, titleOf } from "./coverage.ts";

const COUNT = Number(Deno.env.get("TRI_PROGRAMS") ?? 8);
/** Stops of a program that are looked at. */
const MOST_STOPS = 20;

/** What the reference has of variables, by name. */
type Snapshot = ReadonlyMap<string, readonly Cell[]>;

/** What one program of the launch comes to, one statement after the other. */
type History = { readonly statement: string; readonly snapshot: Snapshot }[];

const keyOf = ({ start, end }: Span): string => `${start} ${end}`;
const programOf = (at: readonly number[]): string => at.join();

/** The variables of a kernel whose names mean nothing else; those of helpers are left out. */
function variablesOf({ params, body }: TypedKernel): readonly Variable[] {
  const all = params.map(({ variable }) => variable);
  const visit = (stmts: readonly TypedStmt[]): void => {
    for (const stmt of stmts) {
      if (stmt.kind === "declare") all.push(stmt.variable);
      if (stmt.kind === "if") [stmt.then, stmt.else].forEach(visit);
      if (stmt.kind === "loop") [stmt.init, stmt.body].forEach(visit);
    }
  };
  visit(body);
  const byName = Map.groupBy(all, ({ name }) => name);
  return all.filter(({ name }) => byName.get(name)?.length === 1);
}

/** What the reference has at each statement, by program, once `run` has come to its end; undefined where it does not. */
function historiesOf(
  kernel: TypedKernel,
  run: (visit: Visit) => boolean,
): Map<string, History> | undefined {
  const variables = variablesOf(kernel);
  const histories = new Map<string, History>();
  const visit: Visit = ({ id, variables: cells }, span) => {
    const history = histories.get(programOf(id)) ?? [];
    histories.set(programOf(id), history);
    const known = variables.flatMap(({ name, id }): [string, readonly Cell[]][] => {
      const found = cells.get(id);
      return found === undefined ? [] : [[name, found]];
    });
    history.push({ statement: keyOf(span), snapshot: new Map(known) });
  };
  return run(visit) ? histories : undefined;
}

interface Count {
  known: number;
  all: number;
}

/** How a variable differs from what it must be. */
function differenceOf(value: NamedValue, cells: readonly Cell[], count: Count): string | undefined {
  for (const [index, cell] of cells.entries()) {
    count.all++;
    if ((value.kinds[index] ?? KIND.gone) > KIND.computed) continue;
    count.known++;
    const got = value.values[index] ?? NaN;
    const problem = compareElement(cell, cell.kind === "int" ? BigInt(got) : got);
    if (problem !== undefined && problem !== "unknown") {
      return `${value.name}[${index}] is ${problem} (kind ${value.kinds[index]})`;
    }
  }
  return undefined;
}

/**
 * What variables may be where a statement is under way: what they are before it, and after what its condition or the
 * jump that it consists of does.
 */
function snapshotsOf(
  history: History,
  statement: string | undefined,
  hasExits: boolean,
): readonly Snapshot[] {
  const isThere = history.some((each) => each.statement === statement);
  // Where a loop was left, code of its other statements runs with flags that say so; the reference is elsewhere.
  if (isThere && hasExits) return history.map(({ snapshot }) => snapshot);
  return history.flatMap((each, at) =>
    each.statement === statement ? history.slice(at, at + 3).map(({ snapshot }) => snapshot) : []
  );
}

/** A program of which code may run where the reference is elsewhere. */
const EXITS = /\b(break|continue|return)\b/;

/** Looks at all variables at each statement of the focused program. */
function walk(
  launch: DebugLaunch,
  names: SourceNames,
  histories: ReadonlyMap<string, History>,
  { count, hasExits }: { readonly count: Count; readonly hasExits: boolean },
): void {
  let asked = 0;
  const fits = launch.nameValues({
    ...names,
    reading(instruction, reader): ReturnType<SourceNames["reading"]> {
      asked = instruction;
      return names.reading(instruction, reader);
    },
  });
  assert(fits, "the names are of the code that runs");
  const history = must(histories.get(programOf(launch.focus.program)), "a program");
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    if (launch.run("statement").kind !== "step") break;
    const state = launch.state();
    const values = state.values().flatMap((name) => state.value(name) ?? []);
    const statement = names.statementOf(asked);
    const snapshots = snapshotsOf(history, statement && keyOf(statement), hasExits);
    if (snapshots.length === 0) continue;
    const problems = snapshots.map((snapshot) => {
      for (const value of values) {
        const cells = snapshot.get(value.name);
        const problem = cells && differenceOf(value, cells, count);
        if (problem !== undefined) return problem;
      }
      return undefined;
    });
    if (!problems.includes(undefined)) {
      const { line } = must(state.site, "an instruction");
      throw new Error(`line ${line}, step ${launch.position}: ${problems.join("; ")}`);
    }
  }
}

Deno.test("namesOf() gives variables the values that the reference gives them, at every statement", () => {
  const count: Count = { known: 0, all: 0 };
  let compared = 0;
  const property = fc.property(anyProgram(supportedFeatures()), (program) => {
    const { text } = printProgram(program);
    const { unit } = checkText(text, {}, dotMode(program));
    const kernel = must(unit.kernels.find(({ name }) => name === "k"), "the kernel");
    const histories = historiesOf(
      kernel,
      (visit) => Array.isArray(runReference(program, kernel, visit)),
    );
    if (histories === undefined || program.numCtas > 1) return;
    const hasExits = EXITS.test(text);
    const last = program.grid.map((extent) => extent - 1);
    const verdict = compareRuns(program, (ptx, launch) => {
      const target = /^\.target (\w+)/m.exec(ptx)?.[1] ?? "";
      const targets = [target as TargetName];
      const names = namesOf(
        { name: "k.tc", text },
        { targets },
        target as TargetName,
        launch.kernel,
      );
      const debug = (debugged: DebugLaunch): void => {
        const [x = 0, y = 0, z = 0] = last;
        debugged.focus = { program: [x, y, z], warp: 0, lane: 0 };
        walk(debugged, must(names, "names"), histories, { count, hasExits });
      };
      compared++;
      emulate(ptx, { ...launch, budget: 50_000_000, print: () => {}, debug });
    });
    if (verdict.kind === "wrong") throw new Error(report(program, verdict.message));
  });
  const details = fc.check(property, { numRuns: COUNT, endOnFailure: true });
  if (details.failed) {
    throw new Error(`TRI_SEED=${SEED} TRI_PROGRAMS=${COUNT}\n${details.errorInstance}`);
  }
  // Most variables must be known, or the test is none. A few programs may be all of the kind that says nothing.
  if (COUNT < 25) return;
  assert(compared >= COUNT / 2, `${compared} runs`);
  assert(count.known >= count.all * 0.6, `${count.known} of ${count.all} elements are known`);
});

/** Looks at the variables of a construct; the reference may have no words for it. */
function compareConstruct(construct: Construct, target: TargetName, count: Count): void {
  const text = textOf(construct);
  const kernel = must(checkText(text).unit.kernels[0], "the kernel");
  const grid = [...construct.grid ?? [1, 1], 1] as const;
  const histories = historiesOf(kernel, (visit) => {
    try {
      const args = argumentsOf(memoriesOfReference());
      interpret(kernel, args, grid, constantsOf(construct), visit);
      return true;
    } catch (error) {
      if (error instanceof NotInterpreted) return false;
      throw error;
    }
  });
  if (histories === undefined) return;
  const { kernels } = compileFile({ name: "k.tc", text }, { targets: [target] });
  const { ptx, entries: [entry] } = must(kernels[0]?.modules[0], "the module");
  const { symbol } = must(entry, "the entry");
  const names = namesOf({ name: "k.tc", text }, { targets: [target] }, target, symbol);
  const [x, y] = grid.map((extent) => extent - 1);
  const debug = (launch: DebugLaunch): void => {
    launch.focus = { program: [x ?? 0, y ?? 0, 0], warp: 0, lane: 0 };
    walk(launch, must(names, "names"), histories, { count, hasExits: EXITS.test(text) });
  };
  emulate(ptx, { ...launchOf(construct, must(entry, "the entry")).launch, print: () => {}, debug });
}

Deno.test("namesOf() gives the variables of each construct the values that the reference gives them", () => {
  const count: Count = { known: 0, all: 0 };
  for (const [nth, construct] of sampled([...CONSTRUCTS.entries()], 6)) {
    const target = must((["sm_80", "sm_90"] as const)[nth % 2], "target");
    try {
      compareConstruct(construct, target, count);
    } catch (error) {
      throw new Error(`${titleOf(construct)}, ${target}: ${error}`, { cause: error });
    }
  }
  assert(count.known > 0, `${count.known} of ${count.all} elements are known`);
});

Deno.test("namesOf() knows what a loop carries where its test runs again", () => {
  const body = "int sum = 0;\n" +
    "for (int k = 0;\n" +
    "k < n;\n" +
    "k++)\n" +
    "sum += C[k] + 10;\n" +
    "I[0] = sum;";
  const construct = { section: "", name: "", body };
  const text = textOf(construct);
  const line = text.split("\n").indexOf("k < n;") + 1;
  const target = "sm_80";
  const { kernels } = compileFile({ name: "k.tc", text }, { targets: [target] });
  const { ptx, entries: [entry] } = must(kernels[0]?.modules[0], "the module");
  const { launch } = launchOf(construct, must(entry, "the entry"));
  const names = must(
    namesOf({ name: "k.tc", text }, { targets: [target] }, target, must(entry, "the entry").symbol),
    "names",
  );
  const seen: (readonly [number, number])[] = [];
  const debug = (launch: DebugLaunch): void => {
    launch.focus = { program: [0, 0, 0], warp: 0, lane: 0 };
    launch.nameValues(names);
    while (launch.run("statement").kind === "step") {
      const state = launch.state();
      if (state.site?.line !== line) continue;
      const [k, sum] = ["k", "sum"].map((name) => must(state.value(name), name));
      if ((k?.kinds[0] ?? KIND.gone) > KIND.computed) continue;
      seen.push([Number(k?.values[0]), Number(sum?.values[0])]);
    }
  };
  emulate(ptx, { ...launch, print: () => {}, debug });
  // C[k] is k - 8.
  assertEquals(seen.slice(-5), [[1, 2], [2, 5], [3, 9], [4, 14], [5, 20]]);
});
