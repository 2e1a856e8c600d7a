/**
 * The emulator takes any text as PTX: a module loads, or the error says where it is wrong or what is missing; a kernel
 * that loads ends, or its fault says what it did. `TRI_FUZZ=20000` tries more.
 */
import fc from "../support/property.ts";
import { createEmulator } from "../../emulator/launch.ts";
import { Fault } from "../../emulator/fault.ts";
import { WINDOW } from "../../emulator/memory.ts";
import { PtxSyntaxError } from "../../compiler/ptx/syntax_error.ts";
import { anyEditsFrom, mutate } from "../support/compiler/mutate.ts";
import { readRecorded } from "../support/recorded.ts";

const COUNT = Number(Deno.env.get("TRI_FUZZ") ?? 150);
const ROOT = new URL("../", import.meta.url);

function textsIn(folder: string): string[] {
  const url = new URL(folder, ROOT);
  return [...Deno.readDirSync(url)].filter(({ name }) => /\.ptx(?:\.gz)?$/.test(name))
    .toSorted((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name }) =>
      name.endsWith(".gz")
        ? readRecorded(new URL(name.slice(0, -3), url))
        : Deno.readTextFileSync(new URL(name, url))
    );
}

/** Long files are cut to their first kernel, or parsing is all that happens. */
const MODULES = [...textsIn("golden/lower/"), ...textsIn("corpus/ptx/")].filter(({ length }) =>
  length < 60_000
);

/** Loads the text and runs its kernels on a few threads. */
function runPtx(text: string): void {
  const emulator = createEmulator({ memoryBytes: 1 << 26 });
  try {
    const location = emulator.heap.allocate(4096, 256, "buffer");
    for (const { info, launch } of emulator.load(text, "fuzz").kernels.values()) {
      if (info.parameterBytes > 4096) continue;
      const block = new DataView(new ArrayBuffer(info.parameterBytes));
      for (const { offset, bytes } of info.params) {
        if (bytes === 8) {
          block.setBigUint64(offset, (BigInt(WINDOW.global) << 32n) | BigInt(location), true);
        }
        if (bytes === 4) block.setUint32(offset, 3, true);
      }
      launch({
        grid: [2, 1, 1],
        block: [32, 1, 1],
        sharedBytes: 1024,
        argumentBlock: new Uint8Array(block.buffer),
        checks: true,
        profile: false,
        budget: 2000,
        workers: 1,
      });
    }
  } catch (error) {
    if (!(error instanceof PtxSyntaxError || error instanceof Fault)) throw error;
  } finally {
    emulator.close();
  }
}

Deno.test("createEmulator() takes modules with mistakes of any kind", () => {
  const modules = fc.tuple(fc.constantFrom(...MODULES), anyEditsFrom(MODULES))
    .map(([source, edits]) => mutate(source, edits));
  fc.assert(fc.property(modules, runPtx), { numRuns: COUNT });
});

Deno.test("createEmulator() takes any text", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 300 })
      .map((text) => `.version 8.0\n.target sm_80\n.address_size 64\n${text}`),
  );
  fc.assert(fc.property(anyText, runPtx), { numRuns: COUNT });
});
