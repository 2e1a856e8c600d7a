/** The architectures that the emulator can be, by name: those of the compiler's table. */
import * as targets from "../../compiler/targets.ts";

export type Architecture = targets.Architecture;

export const ARCHITECTURES: ReadonlyMap<string, Architecture> = new Map(
  targets.ARCHITECTURES.map((one) => [one.name, one]),
);

export const DEFAULT_ARCHITECTURE = "sm_90";
