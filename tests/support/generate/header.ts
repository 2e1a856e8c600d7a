/** What stands around a random kernel: pragmas, names for types and constants, other kernels. */
import { SCALARS } from "../../../compiler/support/scalar.ts";
import type { Choices } from "./choices.ts";
import { isInt, type ProgramContext } from "./scope.ts";
import { declarator, type ScalarSpec, spellTile } from "./tree.ts";

/** Names for a few types, enumerators and constants; makes them known to the workshop. */
export function makeHead(cx: ProgramContext): string[] {
  const { choices } = cx;
  const lines: string[] = [];
  if (choices.oneIn(3)) {
    const [type, shape] = [choices.pick(cx.types), choices.pick(cx.shapes)];
    const name = cx.name("t");
    cx.typedefs.set(spellTile(type, shape), name);
    lines.push(`typedef ${declarator(type, shape, name)};`);
  }
  if (choices.oneIn(4)) {
    const [first, second] = [cx.name("e"), cx.name("e")];
    const value = choices.between(0, 5);
    cx.constants.push(first, second);
    lines.push(`enum { ${first} = ${value}, ${second} };`);
    lines.push(`_Static_assert(${second} == ${value + 1}, "the next number");`);
  }
  if (choices.oneIn(4)) {
    const name = cx.name("c");
    cx.constants.push(name);
    lines.push(`const int ${name} = ${choices.between(1, 9)} * 2;`);
  }
  return lines;
}

/** Options and facts of the kernel, all of them true. */
export function makePragmas(choices: Choices, scalars: readonly ScalarSpec[]): string[] {
  const pragmas: string[] = [];
  if (choices.oneIn(6)) pragmas.push("fp_contract(off)");
  if (choices.oneIn(8)) pragmas.push("math(precise)");
  if (choices.oneIn(10)) pragmas.push(`dot(${choices.pick(["tf32", "tf32x3", "bf16x3"])})`);
  if (choices.oneIn(10)) pragmas.push("noalias(all)");
  if (choices.oneIn(12)) pragmas.push(`max_registers=${choices.pick([64, 128, 255])}`);
  for (const { name, type, value } of scalars) {
    if (!isInt(type)) continue;
    const number = BigInt(value);
    const factor = [16n, 8n, 4n, 2n].find((n) => number % n === 0n) ?? 1n;
    if (number < 0n || number > 1000n || !choices.oneIn(6)) continue;
    pragmas.push(choices.pick([
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
export function attributesOf(choices: Choices, { type, value }: ScalarSpec): string {
  if (!isInt(type) || !choices.oneIn(3)) return "";
  const number = BigInt(value);
  const factor = [32n, 16n, 8n, 4n, 3n, 2n].find((n) => number % n === 0n) ?? 1n;
  return choices.pick([
    ` __multipleof(${factor})`,
    ` __retune __multipleof(${factor})`,
    " __retune",
  ]);
}

/** Other kernels in the same file. */
export function makeNeighbours(choices: Choices): string[] {
  if (!choices.oneIn(10)) return [];
  const type = choices.pick(["int32", "float32", "uint8"] as const);
  return [
    "#pragma tri specialize(off)",
    `__global__ void other(${SCALARS[type].spelling} *P) { *(P + (0 ... 8)) = 1; }`,
  ];
}
