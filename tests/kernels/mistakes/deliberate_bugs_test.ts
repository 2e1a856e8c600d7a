/**
 * Kernels that are wrong on purpose: the shipped images with one mistake each, launched through their wrappers. Every
 * mistake must be caught, as what it is and where it is.
 */
import { transpose } from "../../../generated/transpose.ts";
import { EmulatorDriver } from "../../../emulator/driver/driver.ts";
import { resolveSettings } from "../../../emulator/driver/settings.ts";
import type { FaultKind } from "../../../emulator/fault.ts";
import { createEmulator } from "../../../emulator/launch.ts";
import { Device, EmulatorError, type HostBytes } from "../../../ffi/mod.ts";
import { freshRandom } from "../../support/random.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "../../support/assert.ts";

type Change = (ptx: string) => string;

/** Loads other images than it is given. */
class WrongDriver extends EmulatorDriver {
  readonly #change: Change;

  constructor(change: Change) {
    super(createEmulator(), resolveSettings({ arch: "sm_80", budget: 1_000_000 }));
    this.#change = change;
  }

  override loadModule(image: HostBytes, name: string): bigint {
    const text = this.#change(new TextDecoder().decode(image));
    return super.loadModule(new TextEncoder().encode(text), name);
  }
}

/** Transposes a matrix of singles with the changed image. */
function run(change: Change, [rows, columns]: readonly [number, number] = [64, 64]): void {
  using device = Device.fromDriver(new WrongDriver(change));
  const random = freshRandom();
  const data = Float32Array.from({ length: rows * columns }, () => random.unit());
  using x = device.tensor(data, [rows, columns]);
  using y = transpose(x);
  assertEquals(y.transpose().readSync(), data);
}

/** Replaces text in one entry; there must be something to replace. */
function inEntry(entry: string, what: string | RegExp, by: string): Change {
  return (ptx) => {
    const start = ptx.indexOf(`.entry ${entry}(`);
    const end = ptx.indexOf("\n}", start);
    const body = ptx.slice(start, end);
    const changed = body.replace(what, by);
    assert(start >= 0 && changed !== body, `${entry} has ${what}`);
    return ptx.slice(0, start) + changed + ptx.slice(end);
  };
}

const ALIGNED = "transpose_float32_a16";
const GENERAL = "transpose_float32";

/** The line that turns the tile. */
const LINE =
  Deno.readTextFileSync(new URL("../../../kernels/transpose.tc", import.meta.url)).split("\n")
    .findIndex((line) => line.includes("^(")) + 1;
const STORED = new RegExp(`^kernels/transpose\\.tc:${LINE}:`);

/** The error of a changed image. */
function fault(kind: FaultKind, change: Change, size?: readonly [number, number]): EmulatorError {
  const error = assertThrows(() => run(change, size), EmulatorError);
  assertEquals(error.kind, kind, error.message);
  return error;
}

Deno.test("EmulatorError is not thrown by the images as they are", () => {
  run((ptx) => ptx);
  run((ptx) => ptx, [37, 53]);
});

Deno.test("EmulatorError finds a removed barrier where threads read what others have not written yet", () => {
  for (const [entry, size] of [[ALIGNED, [64, 64]], [GENERAL, [37, 53]]] as const) {
    const error = fault("missing barrier", inEntry(entry, "bar.sync 0;", ""), size);
    assertEquals(error.kernel, entry);
    assertMatch(error.instruction ?? "", /^(ld|st)\.shared/);
    assertMatch(error.detail, /is not ordered with a (read|write) by thread \d+/);
    assertMatch(error.source ?? "", STORED);
    assertMatch(error.hint ?? "", /barrier/);
  }
});

Deno.test("EmulatorError finds the race that a removed barrier leaves in memory that was used before", () => {
  // Everything is stored twice, with the barrier between the two.
  const stores = /((?:st\.shared\.v4\.b32 [^;]*;\s*)+)bar\.sync 0;/;
  const error = fault("missing barrier", inEntry(ALIGNED, stores, "$1bar.sync 0;\n$1"));
  assertMatch(error.instruction ?? "", /^(ld|st)\.shared/);
  assertMatch(error.source ?? "", STORED);
});

Deno.test("EmulatorError finds a mask that is off by one, in loads and in stores", () => {
  const rows = inEntry(GENERAL, /setp\.lt\.s32/g, "setp.le.s32");
  const load = fault("out of bounds", rows, [37, 53]);
  assertMatch(load.instruction ?? "", /ld\.global/);
  assertMatch(load.detail, /X \(37 × 53 float32\)/);
  assert(load.block !== undefined && load.thread !== undefined);
  const everyStore: Change = (ptx) => ptx.replaceAll(/@%p\d+ (st\.global)/g, "$1");
  const store = fault("out of bounds", everyStore, [37, 53]);
  assertMatch(store.instruction ?? "", /^st\.global/);
  assertMatch(store.detail, /Y \(53 × 37 float32\)/);
});

Deno.test("EmulatorError finds an address that is not a multiple of the access", () => {
  const change = inEntry(ALIGNED, /(ld\.global\.v4\.b32 \{[^}]*\}, \[%rd\d+)\]/, "$1+4]");
  const error = fault("misaligned", change);
  assertMatch(error.instruction ?? "", /^@%p\d+ ld\.global\.v4\.b32/);
});

Deno.test("EmulatorError finds reads of shared memory that was never written", () => {
  const change = inEntry(ALIGNED, /st\.shared\.v4\.b32 \[%r\d+\+128\][^;]*;/, "");
  const error = fault("uninitialised memory", change);
  assertMatch(error.instruction ?? "", /^ld\.shared/);
});

Deno.test("EmulatorError finds registers that have no value", () => {
  fault("uninitialised register", inEntry(ALIGNED, "mov.u32 %r37, tri_shared;", ""));
});

Deno.test("EmulatorError finds a barrier that the threads of a warp reach diverged", () => {
  const change = inEntry(
    ALIGNED,
    "bar.sync 0;",
    "setp.lt.u32 %p0, %r2, 40;\n  @%p0 bra first;\n  bar.sync 0;\n  bra past;\nfirst:\n  bar.sync 0;\npast:",
  );
  const error = fault("divergent barrier", change);
  assertStringIncludes(error.detail, `\`bar.sync 0;\` (line ${LINE})`);
});

Deno.test("EmulatorError stops a loop that never ends", () => {
  fault("instruction budget", inEntry(ALIGNED, "bar.sync 0;", "again: bra again;"));
});

Deno.test("EmulatorError finds two threads that store to the same element", () => {
  // All rows of the result land in the first.
  const change = inEntry(ALIGNED, /mov\.u32 %r7, %ctaid\.y;/, "mov.u32 %r7, 0;");
  fault("race", change, [64, 128]);
});
