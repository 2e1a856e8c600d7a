/** Runs an entry on the emulator: the form that serves the launch if there is one, and the plain code. */
import { evaluate } from "../../../compiler/contract/expr.ts";
import type { ContractExpr, Requirement } from "../../../compiler/contract/types.ts";
import { tileElement } from "../../../compiler/ir/tensor_map.ts";
import { compileFile } from "../../../compiler/mod.ts";
import type {
  CompiledEntry,
  EntryForm,
  MapElement,
  Persistence,
  TensorMapPlan,
} from "../../../compiler/options.ts";
import { must } from "../../../compiler/support/bug.ts";
import { SCALARS } from "../../../compiler/support/scalar.ts";
import { encodeTensorMap } from "../../../emulator/async/tensor_map.ts";
import { tensorMapProblem } from "../../../ffi/tensor_map.ts";
import { assertEquals } from "../assert.ts";
import { type Argument, type Buffer, emulateAgain, int } from "../emulate.ts";

/** A kernel for sm_90a with all its entries. */
export interface Compiled {
  readonly ptx: string;
  readonly params: readonly string[];
  readonly entries: readonly (CompiledEntry & { readonly conditions: readonly Requirement[] })[];
}

/** Compiles a text of one kernel. */
export function compileForms(text: string, defines: Readonly<Record<string, number>>): Compiled {
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: ["sm_90a"],
    defines: Object.entries(defines).map(([name, value]) => ({ name, value: String(value) })),
    verify: true,
  });
  assertEquals(diagnostics.map(({ message }) => message), []);
  const [kernel] = kernels;
  const { instances, modules } = must(kernel, "kernel");
  const { ptx, entries } = must(modules[0], "module");
  const params = must(instances[0], "instance").contract.params.map(({ name }) => name);
  return {
    ptx,
    params,
    entries: entries.map((entry, index) => ({
      ...entry,
      conditions: must(instances[index], "instance").specialization,
    })),
  };
}

/** What a launch gives for each parameter by name: memory, an int, or a value of so many bytes. */
export type Arguments = Readonly<
  Record<string, Buffer | number | { readonly bytes: 1 | 4 | 8; readonly value: number | bigint }>
>;

export interface Launch {
  readonly grid: readonly [number, number, number];
  readonly args: Arguments;
}

/** Whether a launch meets conditions; addresses are those of the emulator, which are aligned. */
export function meets(conditions: readonly Requirement[], { grid, args }: Launch): boolean {
  const names = {
    param: (name: string): number => numberOf(args, name),
    grid: (axis: number): number => grid[axis] ?? 1,
  };
  return conditions.every(({ condition }) => evaluate(condition, names) !== 0n);
}

/** Whether a form serves a launch. */
export function serves(form: EntryForm, launch: Launch): boolean {
  const { args } = launch;
  return meets(form.when, launch) &&
    form.maps.every((map) => {
      try {
        return tensorMapProblem(descriptionOf(map, args, 0n)) === undefined;
      } catch {
        return false;
      }
    });
}

const numberOf = (args: Arguments, name: string): number => {
  const value = args[name];
  if (typeof value === "number") return value;
  return value !== undefined && "value" in value ? Number(value.value) : 0;
};

/** Whether copies move the elements as bits. */
export const isMoved = (
  element: MapElement,
): element is Exclude<MapElement, "float16" | "bfloat16" | "tfloat32"> =>
  !["float16", "bfloat16", "tfloat32"].includes(element);

function descriptionOf(
  { axes, box, swizzle, element }: TensorMapPlan,
  args: Arguments,
  address: bigint,
): Parameters<typeof encodeTensorMap>[0] {
  const names = { param: (name: string): number => numberOf(args, name) };
  const valueOf = (expr: ContractExpr): number => Number(evaluate(expr, names));
  const corners = axes.flatMap(({ windows }) => windows ?? []).map(({ lower, upper }) => ({
    lower: valueOf(lower),
    upper: valueOf(upper),
  }));
  const bytes = SCALARS[tileElement(element)].bits / 8;
  return {
    type: !isMoved(element) ? element : bytes === 4 ? "uint32" : "uint8",
    address,
    extents: axes.map(({ extent }) => valueOf(extent)),
    strides: axes.slice(1).map(({ stride }) => valueOf(stride) * bytes),
    box,
    elementStrides: axes.map(({ windows }) => windows === undefined ? 1 : valueOf(windows.step)),
    interleave: "none",
    swizzle: swizzle === 0 ? "none" : `${swizzle}B`,
    promotion: "128B",
    fill: "zero",
    ...corners.length === 0 ? {} : { windows: corners },
  };
}

/** The arguments after the kernel's own: tensor maps, and the numbers of code whose blocks do several programs in turn. */
export function formArguments(
  { maps }: Pick<EntryForm, "maps">,
  params: readonly string[],
  args: Arguments,
  numbers: readonly number[] = [],
): readonly Argument[] {
  return [
    ...maps.map((map): Argument => ({
      encode: (addresses) =>
        encodeTensorMap(
          descriptionOf(map, args, must(addresses[params.indexOf(map.param)], "address")),
        ),
    })),
    ...numbers.map(int),
  ];
}

/**
 * Runs an entry, or a form of it; blocks that may do several programs do three each. Memory among the arguments holds
 * what it left.
 */
export function runEntry(
  { ptx, params }: Compiled,
  entry: CompiledEntry | EntryForm,
  { grid, args }: Launch,
): void {
  const { maps = [], persistent } = "maps" in entry ? entry : {};
  const { blocks, numbers } = inTurn(persistent, grid);
  emulateAgain(ptx, {
    kernel: entry.symbol,
    grid: blocks,
    block: [entry.threads, 1, 1],
    sharedBytes: entry.sharedBytes,
    args: [
      ...params.map((name): Argument => {
        const value = must(args[name], name);
        return typeof value === "number" ? int(value) : value;
      }),
      ...formArguments({ maps }, params, args, numbers),
    ],
    budget: 1_000_000_000,
  });
}

/** Blocks that do three programs each where they may do several, and the parameters that tell them so. */
function inTurn(
  persistent: Persistence | undefined,
  grid: Launch["grid"],
): { readonly blocks: Launch["grid"]; readonly numbers: readonly number[] } {
  const [x, y, z] = grid;
  if (persistent === undefined) return { blocks: grid, numbers: [] };
  if (persistent === "x" || persistent === "several") {
    const queue = persistent === "several" ? [0] : [];
    return { blocks: [Math.ceil(x / 3), y, z], numbers: [x, ...queue] };
  }
  const count = Math.ceil(x * y * z / 3);
  const row = Math.floor(count / x);
  return { blocks: [count, 1, 1], numbers: [x, y, z, count % x, row % y, Math.floor(row / y)] };
}
