/**
 * Random statements that change memory in other ways than plain stores, or say something about the program: in place,
 * by atomics whose old value is known, checks, hints, output.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { makeExpr } from "./expressions.ts";
import { isFloat, isNarrow, isWide, isWideInt, type ProgramContext, rowMajor } from "./scope.ts";
import { anyDestination, outputOf, ownIndices, ownPart } from "./destinations.ts";
import { type Node, spell, type Stmt } from "./tree.ts";

/** `*p += v`, `*?(m) p = f(*p)`, `p[i]++`: reads and writes the same elements. */
export function inPlace(cx: ProgramContext): Stmt | undefined {
  const { choices } = cx;
  const { type, shape } = anyDestination(cx);
  const buffer = outputOf(cx, type);
  if (buffer === undefined) return undefined;
  const operator = isFloat(type) && isNarrow(type)
    ? "="
    : type === "bool"
    ? choices.pick(["|=", "&=", "^="])
    : isFloat(type)
    ? choices.pick(["+=", "-=", "*="])
    : choices.pick(["+=", "-=", "*=", "&=", "|=", "^=", "<<="]);
  if (shape.length === 0) {
    const address = `${ownPart(cx)} + ${choices.between(0, 31)}`;
    const lvalue = choices.pick([`${buffer.name}[${address}]`, `*(${buffer.name} + ${address})`]);
    const change: Stmt = operator !== "=" && type !== "bool" && choices.oneIn(3)
      ? {
        parts: [choices.pick([`${buffer.name}[${address}]++;`, `--${buffer.name}[${address}];`])],
      }
      : { parts: [`${lvalue} ${operator} `, makeExpr(cx, { type, shape }, 3), ";"] };
    return { parts: [`if (${address} < ${buffer.length}) `, [change]] };
  }
  const offset = [`${ownPart(cx)} + `, ...ownIndices(cx, shape)];
  const mask: (string | Node)[] = [
    "(",
    ...offset,
    ` < ${buffer.length})`,
    ...(choices.oneIn(2) ? [" & ", makeExpr(cx, { type: "bool", shape }, 2)] : []),
  ];
  const address = ["*?(", ...mask, ") (", buffer.name, " + ", ...offset, ")"];
  const isSquare = shape.length === 2 && shape[0] === shape[1] && cx.has("permute");
  if (isSquare && choices.oneIn(3)) {
    const all = ["*?(", "(", ...offset, ` < ${buffer.length}))`, ` (${buffer.name} + `, ...offset];
    return { parts: [...address, " = ^(", ...all, "));"] };
  }
  return { parts: [...address, ` ${operator} `, makeExpr(cx, { type, shape }, 3), ";"] };
}

const ORDERS = ["relaxed", "acquire", "release", "acq_rel"];
const SCOPES = ["cta", "gpu", "sys"];

/** Trailing strings of an atomic. */
export function orderOf({ choices }: ProgramContext): string {
  if (!choices.oneIn(3)) return "";
  const order = `, "${choices.pick(ORDERS)}"`;
  return choices.oneIn(2) ? order : `${order}, "${choices.pick(SCOPES)}"`;
}

const ON_INTEGERS = ["atomic_and", "atomic_or", "atomic_xor", "atomic_sub"];
const ON_ALL = ["atomic_add", "atomic_xchg", "atomic_cas", "atomic_min", "atomic_max"];

/** Each lane at an address of its own, so that the old value is known. */
export function exchange(cx: ProgramContext): Stmt | undefined {
  const { choices } = cx;
  const types = cx.types.filter((type) => isWideInt(type) || (isFloat(type) && !isNarrow(type)));
  if (types.length === 0 || !cx.has("atomic_add")) return undefined;
  const type: ScalarName = choices.pick(types);
  const shape = choices.oneIn(3) ? [] : choices.pick(cx.shapes);
  const buffer = outputOf(cx, type, true);
  if (buffer === undefined) return undefined;
  const isHalf = type === "float16" || type === "bfloat16";
  const name = choices.pick(
    isHalf ? ["atomic_add"] : isFloat(type) ? ON_ALL : [...ON_ALL, ...ON_INTEGERS],
  );
  // Sums of any floats are right within rounding, but what others make of them may not be.
  const value = (): Node => makeExpr(cx, { type, shape }, 2);
  const address = shape.length === 0
    ? [`${buffer.name} + ${ownPart(cx)} + ${choices.between(0, 31)}`]
    : [`${buffer.name} + ${ownPart(cx)} + `, ...ownIndices(cx, shape)];
  const operands = name === "atomic_cas"
    ? [", ", value(), ", ", value()]
    : choices.oneIn(2)
    ? [", ", value(), ", ", makeExpr(cx, { type: "bool", shape }, 1)]
    : [", ", value()];
  const variable = cx.name("v");
  const head = choices.oneIn(4) ? "" : `${cx.declarator(type, shape, variable)} = `;
  const stmt: Stmt = { parts: [`${head}${name}(`, ...address, ...operands, `${orderOf(cx)});`] };
  if (head !== "") cx.declare({ type, shape, name: variable });
  return stmt;
}

/** Statements without an effect on what is computed. */
export function remark(cx: ProgramContext): Stmt | undefined {
  const { choices } = cx;
  const [buffer] = cx.buffers.filter(({ written }) => !written);
  switch (choices.between(0, 6)) {
    case 0:
      return { parts: ["__debug_barrier();"] };
    case 1:
      return { parts: ["threadfence();"] };
    case 2: {
      const { shape } = anyDestination(cx);
      const test = makeExpr(cx, { type: "bool", shape }, choices.between(1, 4));
      return { parts: ["assert(", test, " | (get_num_programs(0) > 0));"] };
    }
    case 3: {
      if (!cx.has("printf")) return undefined;
      const shape = choices.oneIn(4) ? choices.pick(cx.shapes) : [];
      const value = makeExpr(cx, { type: "int32", shape }, 2);
      return { parts: ['printf("%d and %d\\n", ', value, ", get_program_id(0));"] };
    }
    case 4:
      return { parts: ["assume(get_num_programs(0) >= 1);"] };
    case 5: {
      if (buffer === undefined) return undefined;
      const shape = choices.pick(cx.shapes);
      return {
        parts: [`prefetch(${buffer.name} + (`, cx.indexTile(shape, rowMajor(shape)), " & 63));"],
      };
    }
    default:
      return { parts: ["static_print(sizeof(float), 3);"] };
  }
}

/** A local with a promise that holds. */
export function promise(cx: ProgramContext): Stmt | undefined {
  const { choices } = cx;
  const types = cx.types.filter((type) => isWide(type) && !isFloat(type));
  const type = choices.pick(types);
  const shape = choices.oneIn(2) ? [] : choices.pick(cx.shapes);
  const n = choices.pick([2, 4, 8, 16, 32]);
  const name = cx.name("v");
  const value = makeExpr(cx, { type, shape }, 2);
  cx.declare({ type, shape, name });
  return {
    parts: [`${cx.declarator(type, shape, name)} __multipleof(${n}) = `, value, ` * ${n};`],
  };
}

/** Pointers that are moved, compared and subtracted. */
export function walk(cx: ProgramContext): readonly Stmt[] | undefined {
  const { choices } = cx;
  const inputs = cx.buffers.filter(({ name }) => name.startsWith("X"));
  if (inputs.length === 0) return undefined;
  const { name: base, type, qualifier, constant } = choices.pick(inputs);
  const shape = choices.oneIn(3) ? [] : choices.pick(cx.shapes);
  const pointer = cx.name("p");
  const index = (): Node => makeExpr(cx, { type: "int32", shape }, 1);
  const tile = shape.length === 0 ? "" : `[${shape.join(", ")}]`;
  const word = qualifier === "volatile" ? "const volatile" : "const";
  const pointee = `${spell(type)}${constant === true ? " __constant__" : ""}`;
  const first: Stmt = {
    parts: [`${word} ${pointee} *${pointer}${tile} = ${base} + (`, index(), " & 31);"],
  };
  const moves: Stmt[] = [{ parts: [`${pointer} += `, index(), " & 15;"] }];
  if (choices.oneIn(2)) {
    moves.push({ parts: [`${pointer} = ${pointer} - (`, index(), " & 1) + 1;"] });
  }
  const found = cx.name("v");
  const distance = cx.name("v");
  const last: Stmt[] = [
    { parts: [`${cx.declarator(type, shape, found)} = *${pointer};`] },
    choices.oneIn(2)
      ? { parts: [`${cx.declarator("int64", shape, distance)} = ${pointer} - ${base};`] }
      : { parts: [`${cx.declarator("int64", shape, distance)} = ${pointer} > ${base} + 7;`] },
  ];
  cx.declare({ type, shape, name: found });
  cx.declare({ type: "int64", shape, name: distance });
  return [first, ...moves, ...last];
}
