/** Shipped kernels without one of their barriers: whichever it is, the emulator must notice. */
import { matmul } from "../../../generated/matmul.ts";
import { softmax } from "../../../generated/softmax.ts";
import { transpose } from "../../../generated/transpose.ts";
import { EmulatorDriver } from "../../../emulator/driver/driver.ts";
import { resolveSettings } from "../../../emulator/driver/settings.ts";
import { createEmulator } from "../../../emulator/launch.ts";
import { Device, EmulatorError, type HostBytes } from "../../../ffi/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { sampled } from "../../support/sampled.ts";
import { splitEntries } from "../../support/targets.ts";

type Change = (ptx: string) => string;

/** Loads other images than it is given. */
class ChangingDriver extends EmulatorDriver {
  readonly #change: Change;

  constructor(change: Change, arch: string) {
    super(createEmulator(), resolveSettings({ arch, workers: 1 }));
    this.#change = change;
  }

  override loadModule(image: HostBytes, name: string): bigint {
    const text = this.#change(new TextDecoder().decode(image));
    return super.loadModule(new TextEncoder().encode(text), name);
  }
}

const RUNS: Readonly<Record<string, (device: Device) => void>> = {
  transpose: (device) => {
    using x = device.zeros("float32", [64, 96]);
    transpose(x)[Symbol.dispose]();
  },
  softmax: (device) => {
    using x = device.zeros("float32", [3, 781]);
    softmax(x)[Symbol.dispose]();
  },
  matmul: (device) => {
    using a = device.zeros("float16", [96, 96]);
    using b = device.zeros("float16", [96, 96]);
    matmul(a, b)[Symbol.dispose]();
  },
};

/** What a run with a changed image ends with. */
function faultOf(
  run: (device: Device) => void,
  arch: string,
  change: Change,
): EmulatorError | undefined {
  using device = Device.fromDriver(new ChangingDriver(change, arch));
  try {
    run(device);
    return undefined;
  } catch (error) {
    if (error instanceof EmulatorError) return error;
    throw error;
  }
}

/** Barriers; those between which nothing is done are one. */
const BARRIER = /(?:\n\s*bar\.sync 0;(?:\n\s*\.loc .*)?)+/g;

for (const [name, run] of sampled(Object.entries(RUNS), 2)) {
  for (const arch of sampled(["sm_75", "sm_80"], 1, name.length)) {
    Deno.test(`EmulatorError is thrown by ${name}() without any one of its barriers, on ${arch}`, () => {
      assertEquals(faultOf(run, arch, (ptx) => ptx), undefined);
      const stopped = faultOf(run, arch, (ptx) => ptx.replaceAll("bar.sync 0;", "trap;"));
      const entry = stopped?.kernel ?? "";
      let removed = 0;
      /** The entry alone, which is soon loaded, with its barrier `index` replaced. */
      const change = (index: number, by: string): Change => (ptx) => {
        const { head, entries } = splitEntries(ptx);
        const own = entries.find((text) => text.includes(`.entry ${entry}(`));
        if (own === undefined) return ptx;
        let count = 0;
        const body = own.replace(BARRIER, (all) => count++ === index ? by : all);
        removed = count;
        return head + body;
      };
      faultOf(run, arch, change(-1, ""));
      const barriers = removed;
      let found = 0;
      for (let i = 0; i < barriers; i++) {
        if (faultOf(run, arch, change(i, "\ntrap;"))?.kind !== "trap") continue;
        const error = faultOf(run, arch, change(i, ""));
        // A barrier with which the kernel begins orders nothing.
        if (error === undefined && i === 0) continue;
        assert(
          error !== undefined && /^(missing barrier|pending copy)$/.test(error.kind),
          `barrier ${i} of ${entry}: ${error?.message}`,
        );
        found++;
      }
      assert(found > 0, `${entry} has barriers`);
    });
  }
}
