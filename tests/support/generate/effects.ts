/**
 * Random statements that change memory in other ways than plain stores, or say something about the program: in place,
 * by atomics whose old value is known, checks, hints, output.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { makeExpr } from "./expressions.ts";
import { isFloat, isNarrow, isWide, isWideInt, rowMajor, type Workshop } from "./scope.ts";
import { anyDestination, outputOf, ownIndices, ownPart } from "./destinations.ts";
import { type Node, spell, type Stmt } from "./tree.ts";

/** `*p += v`, `*?(m) p = f(*p)`, `p[i]++`: reads and writes the same elements. */
export function inPlace(shop: Workshop): Stmt | undefined {
  const { dice } = shop;
  const { type, shape } = anyDestination(shop);
  const buffer = outputOf(shop, type);
  if (buffer === undefined) return undefined;
  const operator = isFloat(type) && isNarrow(type)
    ? "="
    : type === "bool"
    ? dice.pick(["|=", "&=", "^="])
    : isFloat(type)
    ? dice.pick(["+=", "-=", "*="])
    : dice.pick(["+=", "-=", "*=", "&=", "|=", "^=", "<<="]);
  if (shape.length === 0) {
    const address = `${ownPart(shop)} + ${dice.between(0, 31)}`;
    const lvalue = dice.pick([`${buffer.name}[${address}]`, `*(${buffer.name} + ${address})`]);
    const change: Stmt = operator !== "=" && type !== "bool" && dice.oneIn(3)
      ? { parts: [dice.pick([`${buffer.name}[${address}]++;`, `--${buffer.name}[${address}];`])] }
      : { parts: [`${lvalue} ${operator} `, makeExpr(shop, { type, shape }, 3), ";"] };
    return { parts: [`if (${address} < ${buffer.length}) `, [change]] };
  }
  const offset = [`${ownPart(shop)} + `, ...ownIndices(shop, shape)];
  const mask: (string | Node)[] = [
    "(",
    ...offset,
    ` < ${buffer.length})`,
    ...(dice.oneIn(2) ? [" & ", makeExpr(shop, { type: "bool", shape }, 2)] : []),
  ];
  const address = ["*?(", ...mask, ") (", buffer.name, " + ", ...offset, ")"];
  const isSquare = shape.length === 2 && shape[0] === shape[1] && shop.has("permute");
  if (isSquare && dice.oneIn(3)) {
    const all = ["*?(", "(", ...offset, ` < ${buffer.length}))`, ` (${buffer.name} + `, ...offset];
    return { parts: [...address, " = ^(", ...all, "));"] };
  }
  return { parts: [...address, ` ${operator} `, makeExpr(shop, { type, shape }, 3), ";"] };
}

const ORDERS = ["relaxed", "acquire", "release", "acq_rel"];
const SCOPES = ["cta", "gpu", "sys"];

/** Trailing strings of an atomic. */
export function orderOf({ dice }: Workshop): string {
  if (!dice.oneIn(3)) return "";
  const order = `, "${dice.pick(ORDERS)}"`;
  return dice.oneIn(2) ? order : `${order}, "${dice.pick(SCOPES)}"`;
}

const ON_INTEGERS = ["atomic_and", "atomic_or", "atomic_xor", "atomic_sub"];
const ON_ALL = ["atomic_add", "atomic_xchg", "atomic_cas", "atomic_min", "atomic_max"];

/** Each lane at an address of its own, so that the old value is known. */
export function exchange(shop: Workshop): Stmt | undefined {
  const { dice } = shop;
  const types = shop.types.filter((type) => isWideInt(type) || (isFloat(type) && !isNarrow(type)));
  if (types.length === 0 || !shop.has("atomic_add")) return undefined;
  const type: ScalarName = dice.pick(types);
  const shape = dice.oneIn(3) ? [] : dice.pick(shop.shapes);
  const buffer = outputOf(shop, type, true);
  if (buffer === undefined) return undefined;
  const isHalf = type === "float16" || type === "bfloat16";
  const name = dice.pick(
    isHalf ? ["atomic_add"] : isFloat(type) ? ON_ALL : [...ON_ALL, ...ON_INTEGERS],
  );
  // Sums of any floats are right within rounding, but what others make of them may not be.
  const value = (): Node => makeExpr(shop, { type, shape }, 2);
  const address = shape.length === 0
    ? [`${buffer.name} + ${ownPart(shop)} + ${dice.between(0, 31)}`]
    : [`${buffer.name} + ${ownPart(shop)} + `, ...ownIndices(shop, shape)];
  const operands = name === "atomic_cas"
    ? [", ", value(), ", ", value()]
    : dice.oneIn(2)
    ? [", ", value(), ", ", makeExpr(shop, { type: "bool", shape }, 1)]
    : [", ", value()];
  const variable = shop.name("v");
  const head = dice.oneIn(4) ? "" : `${shop.declarator(type, shape, variable)} = `;
  const stmt: Stmt = { parts: [`${head}${name}(`, ...address, ...operands, `${orderOf(shop)});`] };
  if (head !== "") shop.declare({ type, shape, name: variable });
  return stmt;
}

/** Statements without an effect on what is computed. */
export function remark(shop: Workshop): Stmt | undefined {
  const { dice } = shop;
  const [buffer] = shop.buffers.filter(({ written }) => !written);
  switch (dice.between(0, 6)) {
    case 0:
      return { parts: ["__debug_barrier();"] };
    case 1:
      return { parts: ["threadfence();"] };
    case 2: {
      const { type, shape } = anyDestination(shop);
      if (shape.length === 0) return undefined;
      const test = makeExpr(shop, { type: "bool", shape }, 1);
      return { parts: ["assert(", test, ` | ${type === "bool" ? "true" : "(1 == 1)"});`] };
    }
    case 3: {
      if (!shop.has("printf")) return undefined;
      const shape = dice.oneIn(4) ? dice.pick(shop.shapes) : [];
      const value = makeExpr(shop, { type: "int32", shape }, 2);
      return { parts: ['printf("%d and %d\\n", ', value, ", get_program_id(0));"] };
    }
    case 4:
      return { parts: ["assume(get_num_programs(0) >= 1);"] };
    case 5: {
      if (buffer === undefined) return undefined;
      const shape = dice.pick(shop.shapes);
      return {
        parts: [`prefetch(${buffer.name} + (`, shop.indexTile(shape, rowMajor(shape)), " & 63));"],
      };
    }
    default:
      return { parts: ["static_print(sizeof(float), 3);"] };
  }
}

/** A local with a promise that holds. */
export function promise(shop: Workshop): Stmt | undefined {
  const { dice } = shop;
  const types = shop.types.filter((type) => isWide(type) && !isFloat(type));
  const type = dice.pick(types);
  const shape = dice.oneIn(2) ? [] : dice.pick(shop.shapes);
  const n = dice.pick([2, 4, 8, 16, 32]);
  const name = shop.name("v");
  const value = makeExpr(shop, { type, shape }, 2);
  shop.declare({ type, shape, name });
  return {
    parts: [`${shop.declarator(type, shape, name)} __multipleof(${n}) = `, value, ` * ${n};`],
  };
}

/** Pointers that are moved, compared and subtracted. */
export function walk(shop: Workshop): readonly Stmt[] | undefined {
  const { dice } = shop;
  const inputs = shop.buffers.filter(({ name }) => name.startsWith("X"));
  if (inputs.length === 0) return undefined;
  const { name: base, type, qualifier, constant } = dice.pick(inputs);
  const shape = dice.oneIn(3) ? [] : dice.pick(shop.shapes);
  const pointer = shop.name("p");
  const index = (): Node => makeExpr(shop, { type: "int32", shape }, 1);
  const tile = shape.length === 0 ? "" : `[${shape.join(", ")}]`;
  const word = qualifier === "volatile" ? "const volatile" : "const";
  const pointee = `${spell(type)}${constant === true ? " __constant__" : ""}`;
  const first: Stmt = {
    parts: [`${word} ${pointee} *${pointer}${tile} = ${base} + (`, index(), " & 31);"],
  };
  const moves: Stmt[] = [{ parts: [`${pointer} += `, index(), " & 15;"] }];
  if (dice.oneIn(2)) {
    moves.push({ parts: [`${pointer} = ${pointer} - (`, index(), " & 1) + 1;"] });
  }
  const found = shop.name("v");
  const distance = shop.name("v");
  const last: Stmt[] = [
    { parts: [`${shop.declarator(type, shape, found)} = *${pointer};`] },
    dice.oneIn(2)
      ? { parts: [`${shop.declarator("int64", shape, distance)} = ${pointer} - ${base};`] }
      : { parts: [`${shop.declarator("int64", shape, distance)} = ${pointer} > ${base} + 7;`] },
  ];
  shop.declare({ type, shape, name: found });
  shop.declare({ type: "int64", shape, name: distance });
  return [first, ...moves, ...last];
}
