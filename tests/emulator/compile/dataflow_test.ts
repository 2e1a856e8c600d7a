import { assert, assertEquals } from "../../support/assert.ts";
import { kernelText } from "../../support/emulate.ts";
import { must } from "../../../compiler/support/bug.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { type Block, blocksOf } from "../../../emulator/compile/blocks.ts";
import { type Interval, livenessOf } from "../../../emulator/compile/dataflow.ts";
import { RegisterFileLayout } from "../../../emulator/compile/layout.ts";
import { linesOf } from "../../../emulator/compile/lines.ts";

function blocksIn(body: string): Block[] {
  const module = parsePtx(kernelText(body));
  const kernel = must(module.kernels[0], "a kernel");
  const { lines, endLabels } = linesOf(kernel, module);
  return blocksOf(kernel, lines, endLabels);
}

const unassignedIn = (body: string): string[] =>
  livenessOf(blocksIn(body)).unassigned.map(({ name }) => name).sort();

const HEAD = ".reg .b32 %a, %b, %c, %d; .reg .pred %p; .reg .b64 %q;";

Deno.test("blocksOf() cuts at labels, branches, barriers and before what acts on a warp", () => {
  const blocks = blocksIn(`${HEAD}
  mov.u32 %a, 1; mov.u32 %b, 2;
  shfl.sync.idx.b32 %c, %a, 0, 31, -1; add.u32 %c, %c, 1;
  bar.sync 0;
L: add.u32 %a, %a, 1; setp.lt.u32 %p, %a, 9; @%p bra L;
  ret;`);
  assertEquals(blocks.map(({ lines, end, waits }) => [lines.length, end.kind, waits]), [
    [2, "next", false],
    [2, "next", true],
    [0, "barrier", false],
    [2, "jump", false],
    [0, "jump", false],
  ]);
});

Deno.test("linesOf() branches around barriers and warp-wide instructions that have a guard", () => {
  const blocks = blocksIn(`${HEAD} setp.eq.u32 %p, %a, 0; @%p bar.sync 0; ret;`);
  assertEquals(blocks.map(({ end }) => end.kind), ["jump", "barrier", "jump"]);
  const [first] = blocks;
  assertEquals(first?.end.kind === "jump" && [first.end.target, first.end.guard?.negated], [
    2,
    true,
  ]);
});

Deno.test("livenessOf() names what some way to a use leaves unwritten", () => {
  assertEquals(unassignedIn(`${HEAD} mov.u32 %a, 1; add.u32 %b, %a, 1; ret;`), []);
  assertEquals(unassignedIn(`${HEAD} add.u32 %b, %a, 1; ret;`), ["a"]);
  // Written on one of two ways.
  assertEquals(
    unassignedIn(`${HEAD} mov.u32 %c, 0; setp.eq.u32 %p, %c, 0; @%p bra L; mov.u32 %a, 1;
L: add.u32 %b, %a, 1; ret;`),
    ["a"],
  );
  // Under a guard: another lane may not have run it.
  assertEquals(
    unassignedIn(`${HEAD} mov.u32 %c, 0; setp.eq.u32 %p, %c, 0; @%p mov.u32 %a, 1;
  add.u32 %b, %a, 1; ret;`),
    ["a"],
  );
  // Copies are assigned; what is undefined in them is a matter of shadows.
  assertEquals(unassignedIn(`${HEAD} mov.u32 %b, %a; add.u32 %c, %b, 1; ret;`), ["a"]);
  // Never read: nothing to watch.
  assertEquals(unassignedIn(`${HEAD} setp.eq.u32 %p, 0, 0; @%p mov.u32 %a, 1; ret;`), []);
  // In a loop, written after its use.
  assertEquals(
    unassignedIn(`${HEAD} mov.u32 %c, 0;
L: add.u32 %c, %c, %a; mov.u32 %a, 1; setp.lt.u32 %p, %c, 9; @%p bra L; ret;`),
    ["a"],
  );
});

Deno.test("livenessOf() keeps what a loop carries alive through all of it", () => {
  const { intervals } = livenessOf(blocksIn(`${HEAD}
  mov.u32 %a, 0; mov.u32 %b, 5;
L: add.u32 %c, %a, %b; mov.u32 %d, %c; add.u32 %a, %a, 1; setp.lt.u32 %p, %a, 9; @%p bra L;
  ret;`));
  const of = (name: string): Interval =>
    must(intervals.find(({ register }) => register.name === name), name);
  for (const name of ["a", "b"]) {
    assert(of(name).first <= 1 && of(name).last >= of("p").last, name);
  }
  assert(of("c").last < of("p").last);
});

Deno.test("RegisterFileLayout shares rows between registers that are not needed at the same time", () => {
  const chain = Array.from({ length: 100 }, (_, i) => `add.u32 %r${i + 1}, %r${i}, 1;`).join("\n");
  const { intervals } = livenessOf(
    blocksIn(`.reg .b32 %r<101>; mov.u32 %r0, 0; ${chain} ret;`),
  );
  const layout = new RegisterFileLayout(intervals, new Map(), () => 0n);
  // The header and two or three rows of 128 bytes.
  assert(layout.bytes <= 64 + 3 * 128, `${layout.bytes}`);
});

Deno.test("RegisterFileLayout writes literals once per value and width", () => {
  const layout = new RegisterFileLayout([], new Map(), () => 0n);
  const row = (value: bigint, type: "u16" | "u32" | "s32" | "b64"): number =>
    layout.row({ kind: "integer", value }, type);
  assertEquals(row(7n, "u16"), row(7n, "u32"));
  assert(row(-1n, "u16") !== row(-1n, "s32"));
  const wide = row(-2n, "b64");
  const registerFile = new Uint8Array(layout.bytes);
  layout.writeConstants(registerFile);
  const view = new DataView(registerFile.buffer);
  assertEquals(view.getUint32(row(-1n, "u16") + 4 * 31, true), 0xffff);
  assertEquals(view.getBigInt64(wide + 8 * 31, true), -2n);
});
