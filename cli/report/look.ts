/** What can be seen at a step of a launch: registers of a lane, and values of the source by name. */
import type { DebugLaunch, Triple } from "../../emulator/debug/debug_launch.ts";

/** Where to look. */
export interface Place {
  /** The step that comes next. */
  readonly step: number;
  readonly program: Triple;
  readonly warp: number;
  readonly lane: number;
}

/** A value of the source. */
export interface SeenValue {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly values: Float64Array;
  /** By element: 0 held in a register, 1 computed, 2 not set yet, 3 gone. */
  readonly kinds: Uint8Array;
}

/** What there is. */
export interface Look {
  readonly kind: "look";
  readonly step: number;
  /** The instruction that comes next; empty where the program does not run. */
  readonly instruction: string;
  readonly line: number;
  readonly registers: readonly {
    readonly name: string;
    readonly type: string;
    readonly text: string;
    readonly isSet: boolean;
  }[];
  readonly values: readonly SeenValue[];
}

/** What can be seen where a launch is and its focus lies; `file` is the name of the kernel's file. */
export function lookAt(launch: DebugLaunch, file: string): Look {
  const state = launch.state();
  const { site } = state;
  return {
    kind: "look",
    step: launch.position,
    instruction: site?.text ?? "",
    line: site?.file === file ? site.line ?? 0 : 0,
    registers: state.registers().map(({ name, type, bits, isSet }) => ({
      name,
      type,
      text: textOf(bits, type),
      isSet,
    })),
    values: state.values().flatMap((name): SeenValue[] => {
      const value = state.value(name);
      if (value === undefined) return [];
      const { type, shape, kinds } = value;
      return [{ name, type, shape, kinds, values: Float64Array.from(value.values, Number) }];
    }),
  };
}

const view = new DataView(new ArrayBuffer(8));

/** Bits of a register as people read them. */
function textOf(bits: bigint, type: string): string {
  if (type === "pred") return bits === 0n ? "false" : "true";
  view.setBigUint64(0, bits, true);
  const size = /\d+$/.exec(type)?.[0];
  if (type.startsWith("f")) {
    return String(size === "64" ? view.getFloat64(0, true) : view.getFloat32(0, true));
  }
  if (size === "64") return `0x${bits.toString(16)}`;
  // Most registers of 32 bits have no type: both readings are given where they may be floats.
  const integer = size === "16" ? view.getInt16(0, true) : view.getInt32(0, true);
  const float = view.getFloat32(0, true);
  const size32 = Math.abs(float);
  const isFloat = size === "32" && size32 > 1e-6 && size32 < 1e9 && !type.startsWith("s");
  return isFloat ? `${integer} = ${Number(float.toPrecision(6))}f` : String(integer);
}
