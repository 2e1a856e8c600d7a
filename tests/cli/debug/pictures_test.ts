/** What the debug adapter tells a panel of pictures, compared with what the kernel does by its text. */
import { unpack } from "../../../cli/report/packed.ts";
import type { Look } from "../../../cli/report/look.ts";
import type { PanelAnswers } from "../../../cli/report/panel_answers.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { bodyOf, converse, failuresOf } from "./support.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(2);

/** Element i of X, as the adapter fills it. */
const input = (i: number): number => i % 17;

test("tri debug answers a panel with state, counters, layouts, steps and values", async () => {
  const all = await converse(["scale.tc", "--size", "N=70"], [
    ["launch", { stopOnEntry: true }],
    ["configurationDone", {}],
    ["tri/state", {}],
    ["tri/profile", {}],
    ["tri/tiles", {}],
    ["tri/trace", { program: [1, 0, 0] }],
    ["tri/look", { step: 20, program: [9, 0, 0], warp: 7, lane: 40 }],
    ["tri/look", { step: "no step", program: ["x"] }],
    ["tri/state", {}],
    ["tri/nothing", {}],
    ["disconnect", {}],
  ]);
  const told = <Name extends keyof PanelAnswers>(name: Name): PanelAnswers[Name][] =>
    bodyOf(all, name).map((body) => unpack(body["value"]) as PanelAnswers[Name]);
  const [entry, later] = told("tri/state");
  const { position, program, scalars, findings, path } = must(entry, "state");
  assertEquals([position, program, findings], [0, [0, 0, 0], []]);
  assertEquals(scalars, { N: 70 });
  assert(path.endsWith("/scale.tc"), path);
  const [counted] = told("tri/profile");
  const { grid, global } = must(counted?.profile, "profile");
  assertEquals(grid, [3, 1, 1]);
  // 70 floats are 9 sectors, which are read and written.
  assertEquals(global.sectors, 18);
  const [tiles] = told("tri/tiles");
  const loaded = must(tiles?.find(({ op }) => op === "load"), "the load");
  assertEquals([loaded.type, loaded.layout.shape, loaded.line], ["float32[32]", [32], 9]);
  const [trace] = told("tri/trace");
  const { steps, stepWarps, accesses, warps } = must(trace, "trace");
  assert(steps instanceof Uint32Array && steps.length > 10);
  assertEquals([warps, new Set(stepWarps)], [1, new Set([0])]);
  assertEquals(
    accesses.map(({ verb, tensor, places }) => [verb, tensor, places[0]]),
    [["load", "X", 128], ["store", "Y", 128]],
  );
  // What is not in the grid is not gone to; a step is.
  const [moved, here] = told("tri/look");
  assertEquals([moved?.step, here?.step], [20, 20]);
  assertEquals(later?.program, [2, 0, 0]);
  assertEquals(failuresOf(all), ["tri/nothing"]);
});

test("tri/look gives the elements of tiles where the launch has stopped", async () => {
  const all = await converse(["scale.tc", "--size", "N=70"], [
    ["launch", {}],
    ["setBreakpoints", {
      source: { path: "scale.tc" },
      breakpoints: [{ line: 10, condition: "program_x == 1" }],
    }],
    ["configurationDone", {}],
    ["tri/look", { lane: 3 }],
    ["disconnect", {}],
  ]);
  const [body] = bodyOf(all, "tri/look");
  const { values, line } = unpack(body?.["value"]) as Look;
  assertEquals(line, 10);
  const x = must(values.find(({ name }) => name === "x"), "x");
  assertEquals(x.values, Float64Array.from({ length: 32 }, (_, i) => input(32 + i)));
  // A place to look at is a stop for the editor too.
  const stops = all.filter(({ event }) => event === "stopped");
  assertEquals(stops.length, 2);
});
