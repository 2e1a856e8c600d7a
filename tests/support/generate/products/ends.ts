/** What is computed of the sums of products, and where it is stored: tensors end with their last element. */
import type { ScalarName } from "../../../../compiler/support/scalar.ts";
import { declarator, spell, type Stmt } from "../tree.ts";
import { parameter, type Product } from "./product.ts";

const FLOATS: readonly ((x: string) => string)[] = [
  (x) => `max(${x}, 0.0f)`,
  (x) => `${x} * 0.5f`,
  (x) => `(${x} > 1 ? ${x} : 1 - ${x})`,
  (x) => `exp(min(${x}, 0.0f))`,
  (x) => `exp2(${x} - ${x}[:, max][:, newaxis])`,
  (x) => `${x} - ${x}[:, max][:, newaxis]`,
  (x) => `${x} + ${x}[+, :][newaxis, :]`,
];
const INTEGERS: readonly ((x: string) => string)[] = [
  (x) => `max(${x}, 0)`,
  (x) => `${x} >> 3`,
  (x) => `${x} - ${x}[:, min][:, newaxis]`,
];

/** Masked stores of a tile of sums, with what is loaded beside it. */
export function store(product: Product, sum: string): readonly Stmt[] {
  const { cx, size, tile, names, rm, rn, plane } = product;
  const { choices } = cx;
  const isFloat = product.sum === "float32";
  const types = isFloat ? ["float32", "float16", "bfloat16"] as const : ["int32", "int8"] as const;
  const type: ScalarName = choices.pick(types);
  const shape = [tile.m, tile.n];
  const [row, column] = [`${rm}[:, newaxis]`, `${rn}[newaxis, :]`];
  const isByRows = !choices.oneIn(4);
  const [lines, length] = isByRows ? [size.m, size.n] : [size.n, size.m];
  const ld = length + choices.pick([0, 0, 8 - length % 8, 1]);
  const stride = parameter(cx, ld);
  const apart = Math.max(1, lines) * ld;
  const planes = plane === undefined ? "" : `${plane.index} * ${parameter(cx, apart)} + `;
  const at = planes +
    (isByRows ? `${row} * ${stride} + ${column}` : `${column} * ${stride} + ${row}`);
  const isSmall = !choices.oneIn(12);
  const tensor = (type: ScalarName, count: number, written: boolean): string => {
    const name = cx.name(written ? "M" : "V");
    const attributes = choices.pick(["", " __noalias"]);
    const small = isSmall ? { small: true as const } : {};
    cx.buffers.push({ name, type, length: Math.max(1, count), written, attributes, ...small });
    return name;
  };
  const count = ((plane?.count ?? 1) - 1) * apart + Math.max(0, lines - 1) * ld +
    (lines > 0 ? length : 0);
  const out = tensor(type, count, true);
  const [x, there] = [cx.name("v"), cx.name("m")];
  const wide = (shape: readonly number[]): string => `(${spell(product.sum)}[${shape.join(", ")}])`;
  const terms: string[] = [sum];
  if (choices.oneIn(3)) {
    const bias = tensor(type, size.n, false);
    terms.push(`${wide([tile.n])}(*?(${rn} < ${names.n}) (${bias} + ${rn}))[newaxis, :]`);
  }
  if (choices.oneIn(4)) {
    const residual = choices.oneIn(2) ? out : tensor(type, count, false);
    terms.push(`${wide(shape)}(*?(${there}) (${residual} + (${at})))`);
  }
  if (choices.oneIn(5)) {
    // What a parameter decides, slices are computed in versions for.
    const flag = parameter(cx, choices.between(0, 2));
    terms.push(`(${flag} == 1 ? ${isFloat ? "0.5f" : "3"} : ${flag} > 1 ? ${sum} : 0)`);
  }
  const stmts: Stmt[] = [
    {
      parts: [
        `${declarator("bool", shape, there)} = ${row} < ${names.m} && ${column} < ${names.n};`,
      ],
    },
    { parts: [`${declarator(product.sum, shape, x)} = ${terms.join(" + ")};`] },
  ];
  if (choices.oneIn(3)) {
    stmts.push({ parts: [`${x} = ${choices.pick(isFloat ? FLOATS : INTEGERS)(x)};`] });
  }
  if (choices.oneIn(6)) {
    const rows = tensor(product.sum, size.m * cx.programs, true);
    const part = `${cx.programIndex} * ${names.m} + ${rm}`;
    const reduced = `${x}[:, ${choices.pick(["max", "+"])}]`;
    stmts.push({ parts: [`*?(${rm} < ${names.m}) (${rows} + (${part})) = ${reduced};`] });
  }
  const value = `(${spell(type)}[${shape.join(", ")}])${x}`;
  stmts.push({ parts: [`*?(${there}) (${out} + (${at})) = ${value};`] });
  if (choices.oneIn(6)) {
    const again = tensor(type, tile.m * tile.n * cx.programs, true);
    const place = `${cx.programIndex} * ${
      tile.m * tile.n
    } + (0 ... ${tile.n})[:, newaxis] * ${tile.m} + (0 ... ${tile.m})[newaxis, :]`;
    stmts.push({ parts: [`*(${again} + ${place}) = ^(${value});`] });
  }
  return stmts;
}
