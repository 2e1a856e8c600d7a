/** Where the variables and parameters of a kernel are. */
import type { PtxKernel, PtxModule, PtxVariable } from "../../compiler/ptx/func.ts";
import { forEachSymbol } from "../../compiler/ptx/operand.ts";
import { isTypeName, TYPES } from "../../compiler/ptx/types.ts";
import { isReserved } from "../schedule/specials.ts";
import type { SymbolLocation } from "./context.ts";

/** A variable or parameter and how large it is. */
export interface Extent {
  readonly name: string;
  /** Its offset among those of its kind. */
  readonly location: number;
  readonly bytes: number;
}

/** Offsets of what belongs to one kernel. */
export interface KernelVariables {
  readonly params: readonly Extent[];
  readonly parameterBytes: number;
  /** In shared memory; those of unknown size come last and have no bytes. */
  readonly shared: readonly Extent[];
  readonly sharedBytes: number;
  /** Whether it uses shared memory that the system keeps. */
  readonly usesReserved: boolean;
  readonly local: readonly Extent[];
  readonly localBytes: number;
}

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

/** Bytes of an element of a type; textures and the like are handles. */
export function typeBytes(type: string): number {
  return isTypeName(type) ? Math.max(1, TYPES[type].bits / 8) : 8;
}

/** Bytes of a variable. */
export function variableBytes({ type, count = 1 }: PtxVariable): number {
  return count * typeBytes(type);
}

export function variableAlign({ type, align }: PtxVariable): number {
  return align ?? typeBytes(type);
}

/** Lays variables out one after the other. */
function lay(variables: readonly PtxVariable[]): { extents: Extent[]; end: number } {
  let end = 0;
  const extents = variables.map((variable): Extent => {
    const location = alignUp(end, variableAlign(variable));
    const bytes = variableBytes(variable);
    end = location + bytes;
    return { name: variable.name, location, bytes };
  });
  return { extents, end };
}

/** Lays out the parameters and the variables of a kernel. */
export function kernelVariables(kernel: PtxKernel, module: PtxModule): KernelVariables {
  let parameterBytes = 0;
  const params = kernel.params.map(({ name, type, bytes, align }): Extent => {
    const size = bytes ?? typeBytes(type);
    const location = alignUp(parameterBytes, align ?? typeBytes(type));
    parameterBytes = location + size;
    return { name, location, bytes: size };
  });
  const used = new Set<string>();
  for (const item of kernel.body) {
    if (item.kind !== "instruction") continue;
    item.operands.forEach((operand) => forEachSymbol(operand, (name) => used.add(name)));
  }
  const own = new Set(kernel.variables.map(({ name }) => name));
  const shared = [
    ...kernel.variables,
    // Inner names hide outer ones.
    ...module.variables.filter(({ name }) => used.has(name) && !own.has(name)),
  ].filter(({ space }) => space === "shared");
  // Dynamic shared memory begins after all else, whatever its name.
  const isDynamic = ({ extern, count }: PtxVariable): boolean =>
    extern === true && (count ?? 1) === 0;
  const fixed = lay(shared.filter((variable) => !isDynamic(variable)));
  const dynamic = shared.filter(isDynamic);
  const start = alignUp(fixed.end, Math.max(1, ...dynamic.map(variableAlign)));
  const local = lay(
    kernel.variables.filter(({ space }) => space === "local" || space === "param"),
  );
  return {
    params,
    parameterBytes,
    shared: [...fixed.extents, ...dynamic.map(({ name }) => ({ name, location: start, bytes: 0 }))],
    sharedBytes: dynamic.length === 0 ? fixed.end : start,
    usesReserved: kernel.body.some((item) =>
      item.kind === "instruction" &&
      item.operands.some((operand) => operand.kind === "special" && isReserved(operand.name))
    ),
    local: local.extents,
    localBytes: alignUp(local.end, 16),
  };
}

/** All names that a kernel may use. */
export function kernelSymbols(
  variables: KernelVariables,
  globals: ReadonlyMap<string, SymbolLocation>,
  parameterBlock: number,
): ReadonlyMap<string, SymbolLocation> {
  const symbols = new Map(globals);
  const add = (extents: readonly Extent[], space: SymbolLocation["space"], base: number): void => {
    for (const { name, location } of extents) {
      symbols.set(name, { space, location: base + location });
    }
  };
  add(variables.params, "param", parameterBlock);
  add(variables.shared, "shared", 0);
  add(variables.local, "local", 0);
  return symbols;
}
