/** What stands around a random kernel: pragmas, names for types and constants, other kernels. */
import { SCALARS } from "../../../compiler/support/scalar.ts";
import type { Dice } from "./dice.ts";
import { isInt, type Workshop } from "./scope.ts";
import { declarator, type ScalarSpec, spellTile } from "./tree.ts";

/** Names for a few types, enumerators and constants; makes them known to the workshop. */
export function makeHead(shop: Workshop): string[] {
  const { dice } = shop;
  const lines: string[] = [];
  if (dice.oneIn(3)) {
    const [type, shape] = [dice.pick(shop.types), dice.pick(shop.shapes)];
    const name = shop.name("t");
    shop.typedefs.set(spellTile(type, shape), name);
    lines.push(`typedef ${declarator(type, shape, name)};`);
  }
  if (dice.oneIn(4)) {
    const [first, second] = [shop.name("e"), shop.name("e")];
    const value = dice.between(0, 5);
    shop.constants.push(first, second);
    lines.push(`enum { ${first} = ${value}, ${second} };`);
    lines.push(`_Static_assert(${second} == ${value + 1}, "the next number");`);
  }
  if (dice.oneIn(4)) {
    const name = shop.name("c");
    shop.constants.push(name);
    lines.push(`const int ${name} = ${dice.between(1, 9)} * 2;`);
  }
  return lines;
}

/** Options and facts of the kernel, all of them true. */
export function makePragmas(dice: Dice, scalars: readonly ScalarSpec[]): string[] {
  const pragmas: string[] = [];
  if (dice.oneIn(6)) pragmas.push("fp_contract(off)");
  if (dice.oneIn(8)) pragmas.push("math(precise)");
  if (dice.oneIn(10)) pragmas.push(`dot(${dice.pick(["tf32", "tf32x3", "bf16x3"])})`);
  if (dice.oneIn(10)) pragmas.push("noalias(all)");
  if (dice.oneIn(12)) pragmas.push(`max_registers=${dice.pick([64, 128, 255])}`);
  for (const { name, type, value } of scalars) {
    if (!isInt(type)) continue;
    const number = BigInt(value);
    const factor = [16n, 8n, 4n, 2n].find((n) => number % n === 0n) ?? 1n;
    if (number < 0n || number > 1000n || !dice.oneIn(6)) continue;
    pragmas.push(dice.pick([
      `require(${name} == ${value})`,
      `require(${name} >= 0)`,
      `require(${name} % ${factor} == 0)`,
      `require(${name} <= ${number + 3n})`,
      `specialize(${name} % ${factor} == 0)`,
      `specialize(${name} == ${value})`,
    ]));
  }
  return pragmas;
}

/** Promises about a scalar parameter. */
export function attributesOf(dice: Dice, { type, value }: ScalarSpec): string {
  if (!isInt(type) || !dice.oneIn(3)) return "";
  const number = BigInt(value);
  const factor = [32n, 16n, 8n, 4n, 3n, 2n].find((n) => number % n === 0n) ?? 1n;
  return dice.pick([` __multipleof(${factor})`, ` __retune __multipleof(${factor})`, " __retune"]);
}

/** Other kernels in the same file. */
export function makeNeighbours(dice: Dice): string[] {
  if (!dice.oneIn(10)) return [];
  const type = dice.pick(["int32", "float32", "uint8"] as const);
  return [
    "#pragma tri specialize(off)",
    `__global__ void other(${SCALARS[type].spelling} *P) { *(P + (0 ... 8)) = 1; }`,
  ];
}
