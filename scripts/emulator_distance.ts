/**
 * Measures on a machine with a GPU how far the emulator's `.approx` functions and sums of products are from it, and
 * prints a table. docs/emulator.md shows what DISTANCES holds.
 *
 *     deno run -A scripts/emulator_distance.ts                 prints
 *     deno run -A scripts/emulator_distance.ts --write         also writes docs/emulator_distance.json
 */
import { openCudaDriver } from "../ffi/cuda/library.ts";
import type { Driver } from "../ffi/driver.ts";
import { openEmulator } from "../emulator/driver/mod.ts";
import { type FunctionDistance, measureFunctions } from "./distance/functions.ts";
import { say } from "./suites.ts";
import { measureProducts, type ProductDistance } from "./distance/products.ts";

/** What was measured last. */
export const DISTANCES: URL = new URL("../docs/emulator_distance.json", import.meta.url);

export interface Distances {
  /** The device that the emulator was compared with. */
  readonly device: string;
  readonly functions: readonly FunctionDistance[];
  readonly products: readonly ProductDistance[];
}

/** Operands of each function, and threads of each product. */
export interface Counts {
  readonly functions: number;
  readonly products: number;
}

const COUNTS: Counts = { functions: 1 << 16, products: 1 << 12 };
const SEED = 9;

/** Compares a device with the emulator; both must have their contexts. */
export function measureDistances(
  other: Driver,
  emulator: Driver,
  counts = COUNTS,
  seed = SEED,
): Distances {
  const { name, sm } = other.deviceInfo(0);
  return {
    device: name,
    functions: measureFunctions(other, emulator, sm, counts.functions, seed),
    products: measureProducts(other, emulator, sm, counts.products, seed),
  };
}

const percent = (share: number): string =>
  share === 1 ? "all" : `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;

function ulpsText(ulps: number): string {
  if (ulps < 0) return "NaN";
  return ulps < 1e6 ? `${ulps}` : ulps.toExponential(0).replace("e+", "·10^");
}

const powerText = (value: number): string =>
  value === 0 ? "0" : `2^${(Math.ceil(Math.log2(value) * 10) / 10).toFixed(1)}`;

/** Columns that are as wide as what is in them. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, k) =>
    Math.max(...rows.map((cells) => cells[k]?.length ?? 0))
  );
  return rows.map((cells) =>
    cells.map((cell, k) => cell.padEnd(widths[k] ?? 0)).join("  ").trimEnd()
  )
    .join("\n");
}

function functionTable(functions: Distances["functions"]): string {
  const byInstruction = Map.groupBy(functions, ({ instruction }) => instruction);
  return table([
    ["function", "operands", "equal", "ulps", "difference", "of all bits: equal", "ulps"],
    ...[...byInstruction].map(([instruction, rows]) => {
      const [usual, any] = rows;
      if (usual === undefined || any === undefined) return [instruction];
      return [
        instruction,
        usual.operands,
        percent(usual.equal),
        ulpsText(usual.ulps),
        powerText(usual.absolute),
        percent(any.equal),
        ulpsText(any.ulps),
      ];
    }),
  ]);
}

function productTable(products: Distances["products"]): string {
  const rows = products.filter(({ equal }) => equal < 1);
  return [
    table([
      ["product", "equal", "ulps", "difference by sum of magnitudes"],
      ...rows.map(({ instruction, equal, ulps, relative }) => [
        instruction,
        percent(equal),
        ulpsText(ulps),
        powerText(relative),
      ]),
    ]),
    `the other ${products.length - rows.length} products: all equal`,
  ].join("\n");
}

/** The tables as text. */
export function printDistances({ functions, products }: Distances): string {
  return `${functionTable(functions)}\n\n${productTable(products)}`;
}

if (import.meta.main) {
  const gpu = openCudaDriver();
  gpu.makeCurrent(gpu.retainContext(0));
  const emulator = openEmulator({ arch: gpu.deviceInfo(0).arch });
  emulator.makeCurrent(emulator.retainContext(0));
  const distances = measureDistances(gpu, emulator);
  say(`${distances.device}\n\n${printDistances(distances)}`);
  if (Deno.args.includes("--write")) {
    Deno.writeTextFileSync(DISTANCES, `${JSON.stringify(distances, null, 2)}\n`);
  }
  gpu.close();
  emulator.close();
}
