import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import type { DebugLaunch, StopReason } from "../../../emulator/debug/debug_launch.ts";
import { debugLaunch, type OwnedDebugLaunch } from "../../../emulator/debug/launch.ts";
import { snapshot } from "../../../emulator/debug/snapshot.ts";
import { levelsFor } from "../../../emulator/check/levels.ts";
import { setPrinter } from "../../../emulator/calls/mod.ts";
import { Fault } from "../../../emulator/fault.ts";
import { WINDOW } from "../../../emulator/memory.ts";
import { kernelText } from "../../support/emulate.ts";
import { BLOCKS, EXCHANGE, EXCHANGED, type Prepared, prepareKernel, THREADS } from "./support.ts";

function open({ emulator: { machine, heap }, kernel, observe }: Prepared): OwnedDebugLaunch {
  return debugLaunch({
    machine,
    kernel: kernel.info.name,
    begin: observe,
    restore: snapshot(machine, heap),
    levels: levelsFor(true),
  });
}

const exchange = (): { readonly prepared: Prepared; readonly launch: OwnedDebugLaunch } => {
  const prepared = prepareKernel(EXCHANGE, EXCHANGED.length);
  return { prepared, launch: open(prepared) };
};

/** All that can be seen of the focused warp. */
function look(launch: DebugLaunch): unknown {
  const state = launch.state();
  const { site, mask } = state;
  const registers = [0, 5, 31].map((lane) =>
    state.registers(lane).filter(({ isSet }) => isSet).map(({ name, bits }) => `${name}=${bits}`)
  );
  const shared = state.memory("shared", 0, 4 * THREADS);
  return { text: site?.text, line: site?.line, mask, registers, shared };
}

Deno.test("DebugLaunch.run() follows the statements of the focused warp, and finish() ends the launch", () => {
  const { prepared, launch } = exchange();
  assertEquals(launch.position, 0);
  const lines: (number | undefined)[] = [launch.state().site?.line];
  while (launch.run("statement").kind === "step") lines.push(launch.state().site?.line);
  // Up to three rounds; its lanes leave the loop one after the other.
  assertEquals(lines.slice(0, 5), [2, 3, 4, 5, 6]);
  assertEquals(lines.at(-1), 8);
  assertEquals(lines.filter((line) => line === 7).length, 3);
  assertEquals(launch.finish().blocks, BLOCKS);
  launch.close();
  assertEquals(prepared.read(), EXCHANGED);
});

Deno.test("DebugLaunch.goto() gives the same state from before and from behind", () => {
  const { launch } = exchange();
  launch.goto(Infinity);
  const total = launch.position;
  const forward: unknown[] = [];
  launch.goto(0);
  for (let step = 0; step < total; step++) {
    assertEquals(launch.position, step);
    forward.push(look(launch));
    const { kind } = launch.goto(step + 1);
    assertEquals(kind, step + 1 === total ? "end" : "step");
  }
  for (const step of [total - 1, 40, 41, 7, 3, 0, 90, 89]) {
    assertEquals(launch.goto(step).kind, step === 0 ? "start" : "step");
    assertEquals(look(launch), forward[step]);
  }
  launch.close();
});

Deno.test("DebugLaunch.run() backward undoes what it does forward", () => {
  for (const until of ["instruction", "statement", "barrier", "program"] as const) {
    const { launch } = exchange();
    const places: number[] = until === "program" ? [] : [0];
    const focuses: string[] = [];
    for (let reason = launch.run(until); reason.kind === "step"; reason = launch.run(until)) {
      places.push(launch.position);
      focuses.push(launch.focus.program.join());
    }
    assert(places.length >= (until === "barrier" ? 2 : 3) || until === "program", until);
    if (until === "program") {
      assertEquals(focuses, ["1,0,0", "2,0,0"]);
      assertEquals(launch.run("program", -1).kind, "step");
      assertEquals(launch.position, places[1]);
    } else {
      const back: number[] = [];
      for (
        let reason = launch.run(until, -1);
        reason.kind === "step";
        reason = launch.run(until, -1)
      ) {
        back.push(launch.position);
      }
      const expected = places.filter((place) => place > 0).toReversed();
      // From the end the last place comes again.
      assertEquals(back, expected, until);
      assertEquals(launch.position, 0);
    }
    launch.close();
  }
});

Deno.test("DebugLaunch.setBreakpoints() stops in each program, and where a condition holds", () => {
  const { launch } = exchange();
  assertEquals(launch.setBreakpoints([{ line: 1 }, { line: 99 }, { line: 7, condition: "1 +" }]), [
    { verified: true, line: 2 },
    {
      verified: false,
      line: 99,
      message: "no instruction of the kernel belongs to this line or a later one",
    },
    { verified: false, line: 7, message: "`1 +`: it ends where a value must be" },
  ]);
  launch.setBreakpoints([{ line: 8, file: "dir/exchange.tc" }, { line: 8, file: "other.tc" }]);
  for (let block = 0; block < BLOCKS; block++) {
    assertEquals(launch.run("end"), { kind: "breakpoint", number: 0 });
    assertEquals(launch.focus.program, [block, 0, 0]);
    assertEquals(launch.state().site?.line, 8);
  }
  assertEquals(launch.run("end").kind, "end");
  launch.focus = { program: [0, 0, 0], warp: 1, lane: 3 };
  launch.setBreakpoints([{ line: 7, condition: "program_x == 1 && %r9 == 2" }]);
  assertEquals(launch.run("end", -1), { kind: "breakpoint", number: 0 });
  assertEquals(launch.focus, { program: [1, 0, 0], warp: 1, lane: 3 });
  assertEquals(launch.evaluate("%r9 * 10 + lane"), 23);
  // Lane 3 of warp 1 is thread 35, and its neighbour is 34.
  assertEquals(launch.evaluate("%r8"), 68);
  assertEquals(launch.run("end", -1).kind, "start");
  launch.setBreakpoints([{ line: 8, condition: "nobody > 1" }]);
  assertEquals(launch.run("end"), {
    kind: "condition",
    number: 0,
    message: "`nobody > 1`: nobody has no value here",
  });
  launch.close();
});

Deno.test("DebugLaunch.run() meets a breakpoint at the first step once, in the first program too", () => {
  const { launch } = exchange();
  launch.setBreakpoints([{ line: 2 }]);
  for (let block = 0; block < BLOCKS; block++) {
    assertEquals(launch.run("end"), { kind: "breakpoint", number: 0 });
    assertEquals(launch.focus.program, [block, 0, 0]);
    if (block === 0) assertEquals(launch.position, 0);
  }
  assertEquals(launch.run("end").kind, "end");
  // After a run back to the first step, its breakpoint is not reported again.
  while (launch.run("end", -1).kind !== "start");
  assertEquals(launch.run("end"), { kind: "breakpoint", number: 0 });
  assertEquals(launch.focus.program, [1, 0, 0]);
  launch.close();

  const { launch: conditional } = exchange();
  conditional.setBreakpoints([{ line: 2, condition: "program_x == 1" }]);
  assertEquals(conditional.run("statement").kind, "step");
  assertEquals(conditional.run("end"), { kind: "breakpoint", number: 0 });
  assertEquals(conditional.focus.program, [1, 0, 0]);
  conditional.close();

  const { launch: gone } = exchange();
  gone.setBreakpoints([{ line: 2 }]);
  gone.goto(0);
  assertEquals(gone.run("statement").kind, "step");
  gone.close();
});

Deno.test("DebugLaunch.setWatchpoints() stops after a store to an element and after a change of a value", () => {
  const { prepared, launch } = exchange();
  const base = new DataView(prepared.request.argumentBlock.buffer).getBigUint64(0, true);
  const element = THREADS + 35;
  assertEquals(
    launch.setWatchpoints([
      { kind: "memory", address: base + BigInt(4 * element), bytes: 4 },
      { kind: "memory", address: 5n, bytes: 4 },
      { kind: "value", expression: "1 1" },
    ]).map(({ verified }) => verified),
    [true, false, false],
  );
  assertEquals(prepared.read()[element], 0xffffffff);
  assertEquals(launch.run("end"), { kind: "watchpoint", number: 0 });
  assertEquals(prepared.read()[element], EXCHANGED[element]);
  assertEquals(launch.run("end").kind, "end");
  launch.goto(0);
  launch.focus = { program: [0, 0, 0], warp: 0, lane: 2 };
  launch.setWatchpoints([{ kind: "value", expression: "%r8" }]);
  const values: number[] = [];
  for (let at: StopReason = launch.run("end"); at.kind === "watchpoint"; at = launch.run("end")) {
    values.push(Number(launch.evaluate("%r8")));
  }
  assertEquals(values.slice(-2), [3, 6]);
  launch.close();
});

Deno.test("DebugLaunch.findings lists all mistakes of one run, each once with a count", () => {
  const ptx = kernelText(`
  .shared .align 4 .b8 buffer[256]; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, buffer; mad.lo.u32 %r3, %r1, 4, %r2; xor.b32 %r4, %r3, 4;
  ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r5, [%rd4 + 64];
  st.shared.u32 [%r3], %r1;
  st.shared.u32 [%r4], %r5;
  ld.shared.u32 %r6, [%r3 + 128];
  st.global.u32 [%rd4], %r6; ret;`);
  const prepared = prepareKernel(ptx, 32, { grid: [2, 1, 1], block: [32, 1, 1] });
  const launch = open(prepared);
  assertEquals(launch.run("end").kind, "end");
  const list = (): string[] =>
    launch.findings.map(({ fault, count }) => `${count} ${fault.kind} ${fault.site?.text}`);
  const found = list();
  assert(found.some((each) => each.startsWith("32 out of bounds ld.global")), found.join("\n"));
  assert(found.some((each) => /missing barrier st\.shared/.test(each)), found.join("\n"));
  assert(found.some((each) => /race st\.global/.test(each)), found.join("\n"));
  assert(found.some((each) => /uninitialised/.test(each)), found.join("\n"));
  // Going through it again finds nothing new.
  launch.goto(0);
  launch.run("end");
  assertEquals(list(), found);
  launch.goto(0);
  launch.stopsAt = new Set(["race"]);
  const reason = launch.run("end");
  assert(reason.kind === "fault" && reason.finding.fault.kind === "race");
  assertEquals(launch.goto(5).kind, "step");
  assertThrows(() => launch.finish(), Fault, "out of bounds");
  launch.close();
});

Deno.test("DebugLaunch stops at what it cannot go on after, and shows who waits", () => {
  const prepared = prepareKernel(
    kernelText(`
  .reg .b32 %r<8>; .reg .pred %p<2>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 32; @%p0 bra B;
A: bar.sync 0, 96; bra END;
B: bar.sync 1, 96;
END: ret;`),
    4,
    { grid: [1, 1, 1] },
  );
  const launch = open(prepared);
  const reason = launch.run("end");
  assert(reason.kind === "fault");
  assertEquals(reason.finding.fault.kind, "divergent barrier");
  assertEquals(launch.state().site?.text, "bar.sync 1, 96;");
  launch.focus = { program: [0, 0, 0], warp: 1, lane: 0 };
  assertEquals(launch.state().site?.text, "bar.sync 0, 96;");
  assertEquals(launch.run("statement", -1).kind, "start");
  launch.close();
});

Deno.test("DebugLaunch.state() reads global memory only where there is some", () => {
  const { prepared, launch } = exchange();
  launch.goto(Infinity);
  const base = Number(new DataView(prepared.request.argumentBlock.buffer).getBigUint64(0, true));
  const bytes = launch.state().memory("global", base + 4, 8);
  assertEquals([...new Uint32Array(bytes?.buffer ?? new ArrayBuffer(0))], EXCHANGED.slice(1, 3));
  assertEquals(launch.state().memory("global", base + 4 * EXCHANGED.length - 4, 8), undefined);
  assertEquals(launch.state().memory("global", 4096, 8), undefined);
  assertEquals(launch.state().memory("shared", 0, 8), undefined);
  assertEquals(base > WINDOW.global * 2 ** 32, true);
  launch.close();
});

Deno.test("DebugLaunch prints what a kernel prints once, however often it is gone through", () => {
  const ptx = kernelText(
    `
  .reg .b32 %r<8>; .reg .pred %p<2>; .reg .b64 %rd<4>;
  .param .b64 f; .param .b64 a; .param .b32 r;
  mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, 0; @!%p0 bra END;
  mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
  st.param.b64 [f], %rd2; st.param.b64 [a], 0;
  call.uni (r), vprintf, (f, a);
END: ret;`,
    {
      head: `.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};`,
    },
  );
  const prepared = prepareKernel(ptx, 4, { grid: [2, 1, 1] });
  let printed = "";
  setPrinter(prepared.emulator.machine, (text) => printed += text);
  const launch = open(prepared);
  launch.goto(Infinity);
  launch.goto(0);
  launch.run("statement", -1);
  launch.goto(Infinity);
  launch.goto(5);
  launch.goto(Infinity);
  launch.close();
  assertEquals(printed, "hi\nhi\n");
});

Deno.test("DebugLaunch.record() lets someone look on at the whole launch", () => {
  const { launch } = exchange();
  launch.goto(30);
  let steps = 0;
  launch.record({ step: ({ number }) => (assertEquals(number, steps++), "go") });
  assertEquals(steps, launch.position);
  launch.close();
});
