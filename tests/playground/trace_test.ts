import { GALLERY } from "../../playground/gallery/entries.ts";
import { lookInto } from "../../playground/session/look.ts";
import { namesFor } from "../../playground/session/names.ts";
import { run } from "../../playground/session/run.ts";
import type { Trace } from "../../cli/report/trace.ts";
import { traceOf } from "../../playground/session/trace.ts";
import {
  lanesByWord,
  requestFacts,
  requestPicture,
} from "../../playground/views/request_picture.ts";
import { rangeOfColumn, timelinePicture } from "../../playground/views/timeline_picture.ts";
import { numberText, valuePicture } from "../../playground/views/value_picture.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import fc from "../support/property.ts";
import { openEntry } from "./gallery.ts";

const opened = (name: string): ReturnType<typeof openEntry> =>
  openEntry(must(GALLERY.find((entry) => entry.name === name), name));

function trace(name: string, program: readonly [number, number, number] = [0, 0, 0]): Trace {
  const { program: text, call } = opened(name);
  const traced = traceOf(text, call, program);
  assert(traced.kind === "trace", JSON.stringify(traced));
  return traced;
}

Deno.test("traceOf() sees each instruction and each request of a program once", () => {
  for (const name of ["transpose", "turned_rows"]) {
    const { program, call } = opened(name);
    const ran = run(program, call);
    assert(ran.kind === "ran");
    const { grid, warpInstructions, global, shared } = must(ran.profile, "profile");
    const sums = { steps: 0, global: 0, shared: 0, sectors: 0, conflicts: 0 };
    for (let x = 0; x < grid[0]; x++) {
      for (let y = 0; y < grid[1]; y++) {
        const traced = trace(name, [x, y, 0]);
        assert(!traced.isCut);
        sums.steps += traced.steps.length;
        for (const access of traced.accesses) {
          if (access.space !== "global" && access.space !== "shared") continue;
          sums[access.space]++;
          const facts = requestFacts(access);
          sums.sectors += facts.sectors;
          sums.conflicts += facts.conflicts;
        }
      }
    }
    // A warp that waits at a barrier is asked again: steps may be more than instructions.
    assert(sums.steps >= warpInstructions, `${name}: ${sums.steps} of ${warpInstructions}`);
    assertEquals(sums.global, global.requests, name);
    assertEquals(sums.shared, shared.requests, name);
    assertEquals(sums.sectors, global.sectors, name);
    assertEquals(sums.conflicts, shared.bankConflicts, name);
  }
});

Deno.test("traceOf() names the tensor and the bytes of a request", () => {
  const [load, store] = trace("transpose_naive", [3, 1, 0]).accesses;
  // Row 3 of X, columns 32 to 63, 4 bytes each; rows 32 to 63 of Y, column 3, rows of 64 elements.
  assertEquals([load?.tensor, load?.verb, load?.places[5]], ["X", "load", 4 * (3 * 96 + 32 + 5)]);
  assertEquals([store?.tensor, store?.verb, store?.places[5]], [
    "Y",
    "store",
    4 * ((32 + 5) * 64 + 3),
  ]);
  const facts = requestFacts(must(store, "store"));
  assertEquals([facts.lanes, facts.bytes, facts.sectors, facts.idealSectors], [32, 128, 32, 4]);
  const picture = requestPicture(must(store, "store"));
  assertEquals(
    picture.cell(3, 0).says,
    `bytes ${4 * (32 * 64 + 3)} to ${4 * (32 * 64 + 3) + 3} of Y: used by lane 0`,
  );
  assertEquals(picture.cell(4, 0).says.endsWith("moved for nothing"), true);
  assertEquals(picture.cell(8, 0).says.endsWith("not moved"), true);
});

Deno.test("requestFacts() counts the passes of shared memory by their definition", () => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 64 }),
    fc.integer({ min: 0, max: 0xffff_ffff }),
    (stride, lanes) => {
      const access = {
        ...{ at: 0, warp: 0, pc: 0, verb: "load", space: "shared", tensor: "" } as const,
        ...{ bytes: 4, lanes, places: Array.from({ length: 32 }, (_, lane) => 4 * stride * lane) },
      };
      const banks = new Map<number, Set<number>>();
      for (let lane = 0; lane < 32; lane++) {
        if (((lanes >>> lane) & 1) === 0) continue;
        const word = stride * lane;
        banks.set(word % 32, (banks.get(word % 32) ?? new Set()).add(word));
      }
      const passes = Math.max(0, ...[...banks.values()].map(({ size }) => size));
      const facts = requestFacts(access);
      assertEquals(facts.passes, passes);
      assertEquals(facts.conflicts, Math.max(0, passes - 1));
      const shown = requestPicture(access);
      assertEquals([shown.columns, shown.rows], [32, passes]);
    },
  ));
});

Deno.test("lanesByWord() finds each byte of each lane", () => {
  const words = lanesByWord({ places: [6, 8], lanes: 3, bytes: 4 });
  assertEquals([...words], [[1, [0]], [2, [0, 1]]]);
});

Deno.test("timelinePicture() shows every step of every warp, and where warps meet", () => {
  const traced = trace("transpose");
  const picture = timelinePicture(traced);
  assertEquals(picture.rows, 4);
  const last = rangeOfColumn(traced, picture.columns - 1);
  assertEquals(last.to, traced.steps.length);
  const said = Array.from({ length: picture.columns }, (_, column) => picture.cell(column, 2).says);
  assertEquals(said.filter((text) => text.includes("comes to barrier 0")).length, 1);
  assert(said.some((text) => text.includes("line 15")));
});

Deno.test("lookInto() sees registers where the launch is, from any step", () => {
  const { program, call } = opened("vector_add");
  const traced = trace("vector_add", [1, 0, 0]);
  const place = { program: [1, 0, 0], warp: 0, lane: 3 } as const;
  const at = (step: number): ReturnType<typeof lookInto> =>
    lookInto(program, call, { ...place, step: traced.steps[step] ?? 0 });
  const first = at(0);
  assert(first.kind === "look");
  assert(first.registers.every(({ isSet }) => !isSet));
  const last = at(traced.steps.length - 1);
  assert(last.kind === "look");
  assertEquals(last.instruction, traced.instructions[traced.stepPcs.at(-1) ?? 0]?.text);
  assert(last.registers.filter(({ isSet }) => isSet).length > 5);
  assertEquals(at(traced.steps.length - 1), last);
});

Deno.test("lookInto() sees variables by name: tiles element by element, and numbers", () => {
  const { program, call } = opened("vector_add");
  const traced = trace("vector_add", [1, 0, 0]);
  const step = traced.steps.at(-1) ?? 0;
  const seen = lookInto(program, call, { step, program: [1, 0, 0], warp: 0, lane: 0 });
  assert(seen.kind === "look");
  const values = new Map(seen.values.map((value) => [value.name, value]));
  const n = values.get("N");
  assert(n !== undefined);
  assertEquals([n.type, n.shape, [...n.values], numberText(n)], [
    "int",
    [],
    [200],
    "200 (held in a register)",
  ]);
  const i = values.get("i");
  assertEquals([...i?.values ?? []], Array.from({ length: 64 }, (_, at) => 64 + at));
  assert(i?.kinds.every((kind) => kind <= 1));
});

Deno.test("breakpoints ask for variables by name, and watchpoints see elements of tiles change", () => {
  const { program, call } = openEntry({
    file: "playground/puzzles/kernels/long_rows.solution.tc",
    chosen: { sizes: { M: 2, N: 100 }, fills: { X: { kind: "ones" } } },
  });
  const line = 1 + program.text.split("\n").findIndex((text) => text.includes("sums +="));
  const seen: unknown[] = [];
  run(program, call, (launch, _tensors, options) => {
    const names = namesFor(program, options, launch.kernel);
    assert(names !== undefined && launch.nameValues(names));
    launch.setBreakpoints([{ line, condition: "start == 64" }]);
    seen.push(launch.run("end").kind, launch.evaluate("start"), launch.evaluate("sums[3]"));
    launch.setBreakpoints([]);
    launch.goto(0);
    launch.setWatchpoints([{ kind: "value", expression: "sums[3]" }]);
    for (let change = 0; change < 3; change++) {
      seen.push(launch.run("end").kind, launch.evaluate("sums[3]"));
    }
    const other = { ...names, instructions: names.instructions.slice(1) };
    seen.push(launch.nameValues(other), launch.state().values().length);
  });
  assertEquals(seen, [
    ...["breakpoint", 64, 2],
    // It is asked where statements begin, the loop's test among them.
    ...["watchpoint", 1, "watchpoint", 2, "watchpoint", 3],
    ...[false, 0],
  ]);
});

Deno.test("valuePicture() says of each element how it is known", () => {
  const picture = valuePicture({
    name: "x",
    type: "float[4]",
    shape: [4],
    values: Float64Array.of(1, 2, NaN, NaN),
    kinds: Uint8Array.of(0, 1, 2, 3),
  });
  const said = [0, 1, 2, 3].map((column) => picture.cell(column, 0).says);
  assertEquals(said, [
    "x[0] = 1, held in a register",
    "x[1] = 2, computed",
    "x: not set yet",
    "x: gone",
  ]);
});
