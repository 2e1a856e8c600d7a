/** Runs PTX text in the emulator: typed arrays become buffers, which are read back afterwards. */
import type { DebugLaunch } from "../../emulator/debug/debug_launch.ts";
import { walkThrough } from "../../emulator/debug/walk_through.ts";
import {
  createEmulator,
  type Emulator,
  type LaunchRequest,
  type LoadedModule,
} from "../../emulator/launch.ts";
import { setPrinter } from "../../emulator/calls/mod.ts";
import { WINDOW } from "../../emulator/memory.ts";
import type { LaunchReport } from "../../emulator/report.ts";

export type Buffer =
  | Uint8Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | Uint16Array;

export type Argument =
  | Buffer
  /** The address of a byte of a buffer. */
  | { readonly buffer: Buffer; readonly offset: number }
  /** A value of so many bytes. */
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number | bigint }
  /** A value by its bytes, made of the addresses of the arguments before it. */
  | { readonly encode: (addresses: readonly bigint[]) => Uint8Array };

export interface Run extends Partial<LaunchRequest> {
  readonly args: readonly Argument[];
  /** Name of the entry; the only one by default. */
  readonly kernel?: string;
  /** Where the text of `printf` goes; the console by default. */
  readonly print?: (text: string) => void;
  /** Contents of constant buffers, by name. */
  readonly constants?: Readonly<Record<string, Uint8Array>>;
  /** Walks through the launch before it runs to its end. */
  readonly debug?: (launch: DebugLaunch) => void;
}

export interface Ran {
  readonly report: LaunchReport;
  readonly emulator: Emulator;
}

/** The buffer that an argument points to. */
function bufferOf(argument: Argument): Buffer | undefined {
  if (ArrayBuffer.isView(argument)) return argument;
  return "buffer" in argument ? argument.buffer : undefined;
}

/** A whole number of 32 bits as an argument. */
export const int = (value: number): Argument => ({ bytes: 4, value });

/** A module in an emulator of its own. */
interface Loaded {
  readonly ptx: string;
  readonly emulator: Emulator;
  readonly module: LoadedModule;
}

function load(ptx: string): Loaded {
  const emulator = createEmulator();
  return { ptx, emulator, module: emulator.load(ptx, "test") };
}

/** Runs a kernel once; buffers among the arguments hold what it left in them. */
export function emulate(ptx: string, run: Run): Ran {
  const loaded = load(ptx);
  return { report: launch(loaded, run).report, emulator: loaded.emulator };
}

/** What {@linkcode emulateAgain} ran last. */
let last: Loaded | undefined;

/**
 * The same for a text that is run several times, one after the other: it is read and compiled once, if it has no variables,
 * which would keep their values.
 */
export function emulateAgain(ptx: string, run: Run): LaunchReport {
  const loaded = last?.ptx === ptx ? last : load(ptx);
  // Nothing is kept of a launch that fails.
  last = undefined;
  const { report, locations } = launch(loaded, run);
  if (loaded.module.variables.size > 0) return report;
  for (const location of locations) if (location !== undefined) loaded.emulator.heap.free(location);
  last = loaded;
  return report;
}

function launch(
  { emulator, module }: Loaded,
  run: Run,
): { readonly report: LaunchReport; readonly locations: readonly (number | undefined)[] } {
  const { machine, heap } = emulator;
  if (run.print !== undefined) setPrinter(machine, run.print);
  const kernel = run.kernel === undefined
    ? [...module.kernels.values()][0]
    : module.kernels.get(run.kernel);
  if (kernel === undefined) throw new RangeError(`no kernel ${run.kernel ?? ""}`);
  for (const [name, bytes] of Object.entries(run.constants ?? {})) {
    // A buffer that nothing reads is no variable of the module.
    const variable = module.variables.get(name);
    if (variable !== undefined) machine.views.u8.set(bytes, variable.location);
  }
  const { info } = kernel;
  const block = new DataView(new ArrayBuffer(info.parameterBytes));
  const addresses: bigint[] = [];
  const locations = run.args.map((argument, i) => {
    const at = info.params[i]?.offset ?? 0;
    if ("encode" in argument) {
      new Uint8Array(block.buffer).set(argument.encode(addresses), at);
      return undefined;
    }
    const buffer = bufferOf(argument);
    if ("value" in argument) {
      const value = BigInt.asUintN(64, BigInt(argument.value));
      for (let b = 0; b < argument.bytes; b++) {
        block.setUint8(at + b, Number((value >> BigInt(8 * b)) & 255n));
      }
    }
    if (buffer === undefined) return undefined;
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    const location = heap.allocate(bytes.length, 256, info.params[i]?.name ?? "argument");
    machine.views.u8.set(bytes, location);
    const offset = "offset" in argument ? argument.offset : 0;
    const address = (BigInt(WINDOW.global) << 32n) | BigInt(location + offset);
    addresses[i] = address;
    block.setBigUint64(at, address, true);
    return location;
  });
  const request: LaunchRequest = {
    grid: [1, 1, 1],
    block: [32, 1, 1],
    sharedBytes: 0,
    argumentBlock: new Uint8Array(block.buffer),
    checks: true,
    profile: false,
    budget: 10_000_000,
    workers: 1,
    ...run,
  };
  const { debug } = run;
  const report = debug === undefined
    ? kernel.launch(request)
    : walkThrough(emulator, kernel, request, debug);
  run.args.forEach((argument, i) => {
    const location = locations[i];
    const buffer = bufferOf(argument);
    if (location === undefined || buffer === undefined) return;
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    bytes.set(machine.views.u8.subarray(location, location + bytes.length));
  });
  return { report, locations };
}

/** A module of one kernel `k`: parameters `p0`, `p1`, … are addresses unless said otherwise. */
export function kernelText(
  body: string,
  options: {
    readonly target?: string;
    readonly version?: string;
    readonly params?: readonly string[];
    readonly head?: string;
    readonly directives?: string;
  } = {},
): string {
  const { target = "sm_80", version = "8.0", params = ["u64"], head = "", directives = "" } =
    options;
  return `.version ${version}
.target ${target}
.address_size 64
${head}
.visible .entry k(${params.map((type, i) => `.param .${type} p${i}`).join(", ")})
${directives}
{
${body}
}
`;
}
