import { assert, assertEquals } from "../../support/assert.ts";
import type { SyncEvent } from "../../../emulator/debug/observer.ts";
import type { FaultFacts } from "../../../emulator/fault.ts";
import { kernelText } from "../../support/emulate.ts";
import { BLOCKS, EXCHANGE, EXCHANGED, prepareKernel, THREADS } from "./support.ts";

Deno.test("Observer.step() is told of every instruction, in the same order each time", () => {
  const plain = prepareKernel(EXCHANGE, EXCHANGED.length);
  const report = plain.kernel.launch(plain.request);
  assertEquals(plain.read(), EXCHANGED);
  const { observe, read } = plain;
  const runs = [1, 2].map(() => {
    const steps: string[] = [];
    let next = 0;
    const launch = observe({
      step: ({ number, warp, pc, mask }) => {
        assertEquals(number, next++);
        steps.push(`${warp.block.linear} ${warp.index} ${pc} ${mask}`);
        return "go";
      },
    });
    const turn = launch.turn();
    assert(turn.kind === "ended");
    // What lanes do apart counts once for each part in both, and so does the order of the two warps.
    assertEquals(turn.report.threadInstructions, report.threadInstructions);
    assertEquals(turn.report.blocks, report.blocks);
    assertEquals(launch.turn(), turn);
    launch.close();
    return steps;
  });
  assertEquals(read(), EXCHANGED);
  assertEquals(runs[0], runs[1]);
  // An observer is gone when its launch is closed.
  plain.kernel.launch(plain.request);
  assertEquals(runs[0]?.length, runs[1]?.length);
});

Deno.test("Observer.step() pauses a launch, which goes on with the same instruction", () => {
  const { observe, read } = prepareKernel(EXCHANGE, EXCHANGED.length);
  const seen: string[] = [];
  const launch = observe({
    step: ({ warp, pc, mask }) => {
      seen.push(`${warp.block.linear} ${warp.index} ${pc} ${mask}`);
      return "pause";
    },
  });
  let pauses = 0;
  while (launch.turn().kind === "paused") pauses++;
  launch.close();
  assertEquals(pauses, seen.length);
  assertEquals(read(), EXCHANGED);
  const whole: string[] = [];
  const again = observe({
    step: ({ warp, pc, mask }) => {
      whole.push(`${warp.block.linear} ${warp.index} ${pc} ${mask}`);
      return "go";
    },
  });
  again.turn();
  again.close();
  assertEquals(seen, whole);
});

Deno.test("Observer.access() is told the places of each lane, by offset in shared memory", () => {
  const { observe, request } = prepareKernel(EXCHANGE, EXCHANGED.length);
  const base = Number(
    new DataView(request.argumentBlock.buffer).getBigUint64(0, true) & 0xffffffffn,
  );
  const told: { verb: string; space: string; block: number; warp: number; places: number[] }[] = [];
  const launch = observe({
    access: ({ warp }, { verb, space, lanes, places, bytes, writes }) => {
      assertEquals(bytes, 4);
      assertEquals(writes, verb === "store");
      const own = [...places].filter((_, lane) => (lanes >>> lane & 1) === 1);
      told.push({ verb, space, block: warp.block.linear, warp: warp.index, places: own });
    },
  });
  launch.turn();
  launch.close();
  const lanes = Array.from({ length: 32 }, (_, lane) => lane);
  for (let block = 0; block < BLOCKS; block++) {
    for (const warp of [0, 1]) {
      const of = (verb: string, space: string): number[] =>
        told.filter((each) =>
          each.verb === verb && each.space === space && each.block === block && each.warp === warp
        ).flatMap(({ places }) => places).toSorted((a, b) => a - b);
      const shared = lanes.map((lane) => 4 * (32 * warp + lane));
      assertEquals(of("store", "shared"), shared);
      assertEquals(of("load", "shared"), shared);
      const global = lanes.map((lane) => base + 4 * (THREADS * block + 32 * warp + lane));
      assertEquals(of("store", "global"), global);
      assertEquals(of("load", "global"), []);
    }
  }
});

Deno.test("Observer.sync() and block() are told of barriers, lanes that part, and blocks", () => {
  const { observe } = prepareKernel(EXCHANGE, EXCHANGED.length);
  const events: SyncEvent["kind"][] = [];
  const blocks: string[] = [];
  let parted = 0;
  const launch = observe({
    sync: ({ mask }, event) => {
      events.push(event.kind);
      if (event.kind !== "lanes part") return;
      parted++;
      assertEquals(event.taken | event.others, mask);
      assertEquals(event.taken & event.others, 0);
    },
    block: ({ linear }, event) => blocks.push(`${linear} ${event}`),
  });
  launch.turn();
  launch.close();
  const count = (kind: SyncEvent["kind"]): number => events.filter((each) => each === kind).length;
  assertEquals(count("barrier arrives"), 2 * BLOCKS);
  assertEquals(count("barrier ends"), BLOCKS);
  // Lanes have 0 to 3 rounds: they part three times.
  assertEquals(parted, 3 * 2 * BLOCKS);
  const expected = Array.from({ length: BLOCKS }, (_, i) => [`${i} begins`, `${i} ends`]).flat();
  assertEquals(blocks, expected);
});

Deno.test("Observer.sync() is told of copies and of the waits for them", () => {
  const ptx = kernelText(`
  .shared .align 16 .b8 buffer[128]; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, buffer; mad.lo.u32 %r3, %r1, 4, %r2;
  ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;
  cp.async.ca.shared.global [%r3], [%rd4], 4;
  cp.async.commit_group; cp.async.wait_group 0;
  ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd4], %r4; ret;`);
  const { observe } = prepareKernel(ptx, 32, { grid: [1, 1, 1], block: [32, 1, 1] });
  const begun = new Map<object, number>();
  const copied: unknown[] = [];
  let waited = 0;
  const launch = observe({
    access: (_, { verb, writes, space, lanes, bytes, places }) => {
      const steps = places.subarray(1).map((place, lane) => place - (places[lane] ?? 0));
      if (verb === "copy") copied.push([space, writes, lanes, bytes, [...new Set(steps)]]);
    },
    sync: (_, event) => {
      if (event.kind === "copy begins") begun.set(event.copy, event.lanes);
      if (event.kind === "copy is waited for") waited |= begun.get(event.copy) ?? 0;
    },
  });
  assertEquals(launch.turn().kind, "ended");
  launch.close();
  assertEquals([...begun.values()].reduce((all, lanes) => all | lanes, 0), -1);
  assertEquals(waited, -1);
  // A request of the warp for each side.
  assertEquals(copied, [["global", false, -1, 4, [4]], ["shared", true, -1, 4, [4]]]);
});

Deno.test("Observer.fault() decides whether a launch goes on: accesses are left out, loads give 0", () => {
  const ptx = kernelText(`
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4 + 192];
  atom.global.add.u32 %r3, [%rd4 + 512], 1;
  add.u32 %r4, %r2, 5;
  st.global.u32 [%rd4], %r4; ret;`);
  const { observe, read } = prepareKernel(ptx, 64, { grid: [1, 1, 1], block: [32, 1, 1] });
  const stopped = observe({ fault: () => "stop" });
  const turn = stopped.turn();
  assert(turn.kind === "failed");
  assertEquals(turn.fault.kind, "out of bounds");
  assertEquals(turn.fault.origin?.thread, [16, 0, 0]);
  stopped.close();
  const faults: FaultFacts[] = [];
  const launch = observe({
    fault: (fault) => {
      faults.push(fault);
      return "continue";
    },
  });
  assertEquals(launch.turn().kind, "ended");
  launch.close();
  // 16 lanes of the load, and all of the atomic operation.
  assertEquals(faults.map(({ kind }) => kind), Array<string>(16 + 32).fill("out of bounds"));
  assertEquals(read().slice(0, 32), Array.from({ length: 32 }, (_, i) => i < 16 ? 4 : 5));
});
