/** Random statements. Each program stores into its own part of the outputs, so that nothing races. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { chain } from "./chains.ts";
import { chunks } from "./chunks.ts";
import { assignable } from "./elementwise.ts";
import { exchange, inPlace, orderOf, promise, remark, walk } from "./effects.ts";
import { makeExpr } from "./expressions.ts";
import { matrix } from "./matrices.ts";
import { anyDestination, outputOf, ownIndices, ownPart } from "./destinations.ts";
import { numbered, pairs } from "./numbered.ts";
import { rowLoops } from "./row_loops.ts";
import { softmax } from "./softmax.ts";
import { matmul, PRODUCTS } from "./tiles.ts";
import { isFloat, isNarrow, type ProgramContext, type VariableSpec } from "./scope.ts";
import { declarator, type Node, type Shape, spell, type Stmt, type Wanted } from "./tree.ts";

const DEPTH = 4;

type Maker = (cx: ProgramContext, fuel: number) => Stmt | readonly Stmt[] | undefined;

/** Some statements. */
export function makeStmts(cx: ProgramContext, count: number, fuel: number): Stmt[] {
  const stmts: Stmt[] = [];
  for (let i = 0; i < count; i++) {
    const stmt = cx.choices.weighted(MAKERS)(cx, fuel);
    if (stmt !== undefined) stmts.push(...[stmt].flat());
  }
  return stmts;
}

const declaration: Maker = (cx) => {
  const { choices } = cx;
  const destination = anyDestination(cx);
  const value = assignable(cx, destination, DEPTH);
  const name = cx.name("v");
  const word = choices.oneIn(8) ? "const " : "";
  const isFilled = word === "" && choices.oneIn(8);
  const head = `${word}${cx.declarator(destination.type, destination.shape, name)}`;
  cx.declare({ ...destination, name });
  if (word !== "") cx.fixed.add(name);
  // Assigned later, or in braces: the same.
  if (isFilled) return [{ parts: [`${head};`] }, { parts: [`${name} = `, value, ";"] }];
  return choices.oneIn(8)
    ? { parts: [`${head} = { `, value, " };"] }
    : { parts: [`${head} = `, value, ";"] };
};

/** A variable that hides one of an outer scope, and is forgotten with its block. */
const hiding: Maker = (cx, fuel) => {
  const { choices } = cx;
  const outer = cx.variables.filter(({ name }) => name.startsWith("v") && !cx.fixed.has(name));
  if (outer.length === 0 || fuel <= 0) return undefined;
  const { name } = choices.pick(outer);
  const destination = anyDestination(cx);
  return {
    parts: [
      cx.inScope(() => {
        const value = makeExpr(withoutName(cx, name), destination, DEPTH - 1);
        cx.declare({ ...destination, name });
        return [
          { parts: [`${declarator(destination.type, destination.shape, name)} = `, value, ";"] },
          ...makeStmts(cx, choices.between(1, 3), fuel - 1),
        ];
      }),
    ],
  };
};

/** A name is in scope in its own initialiser (language.md, 4.2), so nothing may read it there. */
function withoutName(cx: ProgramContext, name: string): ProgramContext {
  const at = cx.variables.findIndex((variable) => variable.name === name);
  if (at >= 0) cx.variables.splice(at, 1);
  return cx;
}

/** A variable that may change. */
function target(cx: ProgramContext): VariableSpec | undefined {
  const open = cx.variables.filter(({ name }) => !cx.fixed.has(name));
  return open.length === 0 ? undefined : cx.choices.pick(open);
}

const assignment: Maker = (cx) => {
  const variable = target(cx);
  if (variable === undefined) return undefined;
  const operators = variable.type === "bool"
    ? ["=", "=", "&=", "|=", "^="]
    : isFloat(variable.type)
    ? ["=", "+=", "-=", "*="]
    : ["=", "=", "+=", "-=", "*=", "&=", "^="];
  const operator = isNarrow(variable.type) && isFloat(variable.type)
    ? "="
    : cx.choices.pick(operators);
  const value = operator === "=" ? assignable(cx, variable, DEPTH) : makeExpr(cx, variable, DEPTH);
  return { parts: [`${variable.name} ${operator} `, value, ";"] };
};

const step: Maker = (cx) => {
  const variable = target(cx);
  if (variable === undefined || variable.type === "bool") return undefined;
  if (isFloat(variable.type) && isNarrow(variable.type)) return undefined;
  return { parts: [cx.choices.pick([`${variable.name}++;`, `--${variable.name};`])] };
};

const STORE_MODIFIERS = ["wb", "cg", "cs", "wt", "evict_first", "evict_last"];

/** A store of a value into its output; undefined where there is none left. */
export function storeOf(
  cx: ProgramContext,
  { type, shape }: Wanted,
  value: Node,
): Stmt | undefined {
  const { choices } = cx;
  const buffer = outputOf(cx, type);
  if (buffer === undefined) return undefined;
  if (shape.length === 0) {
    const destination = `${ownPart(cx)} + ${choices.between(0, 31)}`;
    const store = choices.oneIn(2)
      ? `${buffer.name}[${destination}] = `
      : `*(${buffer.name} + ${destination}) = `;
    return { parts: [`if (${destination} < ${buffer.length}) `, [{ parts: [store, value, ";"] }]] };
  }
  const offset = [`${ownPart(cx)} + `, ...ownIndices(cx, shape)];
  const guards: (string | Node)[] = buffer.length < cx.part * cx.programs || choices.oneIn(3)
    ? ["(", ...offset, ` < ${buffer.length})`]
    : [];
  const extra: (string | Node)[] = choices.oneIn(3)
    ? [guards.length > 0 ? " & " : "", makeExpr(cx, { type: "bool", shape: shape }, 2)]
    : [];
  const mask = [...guards, ...extra];
  if (mask.length === 0) {
    return { parts: ["*(", buffer.name, " + ", ...offset, ") = ", value, ";"] };
  }
  const modifier = choices.oneIn(2) && buffer.qualifier !== "volatile"
    ? `, "${choices.pick(STORE_MODIFIERS)}");`
    : ");";
  return choices.oneIn(4)
    ? { parts: ["store(", buffer.name, " + ", ...offset, ", ", value, ", ", ...mask, modifier] }
    : { parts: ["*?(", ...mask, ") (", buffer.name, " + ", ...offset, ") = ", value, ";"] };
}

const store: Maker = (cx) => {
  const destination = anyDestination(cx);
  return storeOf(cx, destination, assignable(cx, destination, DEPTH));
};

/** Reads back what the program itself may have written just before, in another order. */
const readBack: Maker = (cx) => {
  const { choices } = cx;
  const written = cx.buffers.filter(({ written, name }) => written && name.startsWith("Y"));
  if (written.length === 0) return undefined;
  const buffer = choices.pick(written);
  const shape = choices.pick(cx.shapes);
  const offset = [`${ownPart(cx)} + `, ...ownIndices(cx, shape)];
  const name = cx.name("v");
  cx.declare({ type: buffer.type, shape, name });
  return {
    parts: [
      `${cx.declarator(buffer.type, shape, name)} = *?((`,
      ...offset,
      `) < ${buffer.length}) (${buffer.name} + `,
      ...offset,
      ");",
    ],
  };
};

/** Commutative atomics on counters of their own, where lanes and programs meet. */
const atomics: Maker = (cx) => {
  const { choices, buffers } = cx;
  const type = choices.pick(["int32", "uint32", "int64", "uint64", "float32", "float64"] as const);
  if (!cx.types.includes(type)) return undefined;
  // Sums and differences commute with each other; every other function only with itself.
  const families: readonly (readonly string[])[] = isFloat(type)
    ? cx.has("atomic_add") ? [["atomic_add"], ["atomic_min"], ["atomic_max"]] : []
    : [
      ...(cx.has("atomic_add") && cx.has("atomic_sub") ? [["atomic_add", "atomic_sub"]] : []),
      ...(cx.has("atomic_bits") ? [["atomic_and"], ["atomic_or"], ["atomic_xor"]] : []),
      ...(cx.has("atomic_extreme") ? [["atomic_min"], ["atomic_max"]] : []),
    ];
  if (families.length === 0) return undefined;
  const family = choices.pick(families);
  const letter = `Z${family[0]?.slice(7, 10)}`;
  const known = buffers.find((one) => one.name.startsWith(letter) && one.type === type);
  if (known === undefined && buffers.length > 12) return undefined;
  const buffer = known ??
    {
      name: cx.name(letter),
      type,
      length: 64,
      written: true,
      attributes: "",
      ...(isFloat(type) ? { zeroed: true } : {}),
    };
  if (known === undefined) buffers.push(buffer);
  const shape = cx.has("atomic-scalar") && choices.oneIn(4) ? [] : choices.pick(cx.shapes);
  const index = makeExpr(cx, { type: "int32", shape }, 1);
  const mask: (string | Node)[] = choices.oneIn(2)
    ? [", ", makeExpr(cx, { type: "bool", shape }, 1)]
    : [];
  // Sums of few small integers are exact in any order.
  const value: (string | Node)[] = isFloat(type)
    ? ["(", makeExpr(cx, { type: "int32", shape }, 2), " & 15)"]
    : [makeExpr(cx, { type, shape }, 2)];
  return {
    parts: [
      `${choices.pick(family)}(${buffer.name} + (`,
      ...[index, " & 63), ", ...value, ...mask, `${orderOf(cx)});`],
    ],
  };
};

/** `x += a @ b`. */
const accumulation: Maker = (cx) => {
  const variable = target(cx);
  const product = variable && matmul(cx, variable, DEPTH - 1);
  return product === undefined ? undefined : { parts: [`${variable?.name} += `, product, ";"] };
};

/**
 * Pointers that walk over two matrices whose products are summed: what matmul kernels do. The inputs end with the
 * last element that is read, so a load too far ahead is noticed.
 */
const stream: Maker = (cx) => {
  const { choices } = cx;
  const rows = PRODUCTS.filter(([, , feature]) => cx.has(feature));
  if (rows.length === 0 || !cx.has("loop") || cx.buffers.length > 8) return undefined;
  const [result, types] = choices.pick(rows);
  const extents = cx.part > 256 ? [8, 16, 32, 64] : [1, 2, 4, 8, 16];
  const [m, n, k] = [choices.pick(extents), choices.pick(extents), choices.pick(extents)];
  if (m * n > cx.part) return undefined;
  const most = choices.between(1, 5);
  const input = (type: ScalarName, length: number): string => {
    const name = cx.name("W");
    const attributes = choices.pick(["", " __noalias", " __readonly"]);
    cx.buffers.push({ name, type, length, written: false, attributes });
    return name;
  };
  const [left, right] = [choices.pick(types), choices.pick(types)];
  const isLeftTransposed = choices.oneIn(3);
  const width = most * k + choices.pick([0, 0, 8, 3]);
  const a = input(left, isLeftTransposed ? most * k * m : (m - 1) * width + most * k);
  const isTransposed = choices.oneIn(3);
  const height = most * k + choices.pick([0, 8]);
  const b = input(right, isTransposed ? (n - 1) * height + most * k : most * k * n);
  const [acc, pa, pb, counter] = [cx.name("v"), cx.name("p"), cx.name("p"), cx.name("k")];
  const pointer = (
    type: ScalarName,
    shape: Shape,
    name: string,
    base: string,
    strides: number[],
  ): Stmt => ({
    parts: [
      `const ${spell(type)} *${name}[${shape.join(", ")}] = ${base} + `,
      cx.indexTile(shape, strides),
      ";",
    ],
  });
  const rounds = choices.oneIn(2) ? `${most}` : `(get_program_id(0) & 3) + ${most} - 3`;
  const guard = choices.oneIn(3) ? `?(${counter} * ${k} < ${choices.between(0, most * k)}) ` : "";
  const hint = choices.pick(["", "", `#pragma tri loop num_stages(${choices.between(1, 4)})\n  `]);
  const body: Stmt[] = [
    {
      parts: [
        `${acc} += ${isLeftTransposed ? "^" : ""}(*${guard}${pa}) @ `,
        `${isTransposed ? "^" : ""}(*${guard}${pb});`,
      ],
    },
    { parts: [`${pa} += ${isLeftTransposed ? k * m : k};`] },
    { parts: [`${pb} += ${isTransposed ? k : k * n};`] },
  ];
  if (choices.oneIn(4)) {
    body.push(...cx.inScope(() => {
      cx.variables.push({ name: acc, type: result, shape: [m, n] });
      return makeStmts(cx, 1, 0);
    }));
  }
  cx.variables.push({ name: acc, type: result, shape: [m, n] });
  return {
    parts: [
      `${declarator(result, [m, n], acc)} = 0;\n  `,
      [
        isLeftTransposed
          ? pointer(left, [k, m], pa, a, [m, 1])
          : pointer(left, [m, k], pa, a, [width, 1]),
        isTransposed
          ? pointer(right, [n, k], pb, b, [height, 1])
          : pointer(right, [k, n], pb, b, [n, 1]),
        {
          parts: [
            `${hint}for (int ${counter} = 0; ${counter} < ${rounds}; ${counter}++) `,
            body,
          ],
        },
      ],
    ],
  };
};

const branch: Maker = (cx, fuel) => {
  if (!cx.has("if") || fuel <= 0) return undefined;
  const { choices } = cx;
  const condition = makeExpr(cx, { type: "bool", shape: [] }, 2);
  const block = (): Stmt[] => cx.inScope(() => makeStmts(cx, choices.between(1, 3), fuel - 1));
  return choices.oneIn(2)
    ? { parts: ["if (", condition, ") ", block()] }
    : { parts: ["if (", condition, ") ", block(), " else ", block()] };
};

const LOOP_HINTS = ["unroll", "tri loop unroll(2)", "tri loop flatten", "tri loop pipeline(off)"];

/** A loop of few rounds; inside, variables from outside change. */
const loop: Maker = (cx, fuel) => {
  if (!cx.has("loop") || fuel <= 0) return undefined;
  const { choices } = cx;
  const counter = cx.name("k");
  const isConstant = choices.oneIn(2);
  const rounds = isConstant
    ? `${choices.between(0, 4)}`
    : `(get_program_id(0) & 3) + ${choices.between(0, 2)}`;
  cx.fixed.add(counter);
  const jumps = [
    ...(cx.has("loop-break") ? ["break"] : []),
    ...(cx.has("loop-continue") ? ["continue"] : []),
  ];
  const hint = choices.oneIn(6) ? `#pragma ${choices.pick(LOOP_HINTS)}\n  ` : "";
  const body = (first: readonly Stmt[] = [], mayJump = true): Stmt[] =>
    cx.inScope(() => {
      cx.variables.push({ name: counter, type: "int32", shape: [] });
      const stmts = [...first, ...makeStmts(cx, choices.between(1, 4), fuel - 1)];
      if (mayJump && jumps.length > 0 && choices.oneIn(3)) {
        const condition = makeExpr(cx, { type: "bool", shape: [] }, 2);
        const jump: Stmt = { parts: [`if (`, condition, `) ${choices.pick(jumps)};`] };
        stmts.push(jump, ...makeStmts(cx, 1, 0));
      }
      return stmts;
    });
  const start: Stmt = { parts: [`int ${counter} = 0;`] };
  // A counter that is stepped first ends the loop whatever `continue` leaves out.
  const advance: Stmt = { parts: [`${counter}++;`] };
  switch (choices.between(0, 6)) {
    case 0:
      return { parts: [`${hint}for (int ${counter} = ${rounds}; ${counter}-- > 0;) `, body()] };
    case 1:
      if (!cx.has("do")) return undefined;
      return {
        parts: [[start, { parts: ["do ", body(), ` while (++${counter} < ${rounds});`] }]],
      };
    case 2: {
      if (!cx.has("while")) return undefined;
      const condition: (string | Node)[] = choices.oneIn(2)
        ? [` && `, makeExpr(cx, { type: "bool", shape: [] }, 2)]
        : [];
      return {
        parts: [[start, {
          parts: [`while (${counter} < ${rounds}`, ...condition, ") ", body([advance])],
        }]],
      };
    }
    case 3:
      if (!cx.has("loop-break")) return undefined;
      return {
        parts: [[start, {
          parts: [
            "for (;;) ",
            body([{ parts: [`if (${counter}++ >= ${rounds}) break;`] }]),
          ],
        }]],
      };
    default:
      return {
        parts: [
          `${hint}for (int ${counter} = 0; ${counter} < ${rounds}; ${counter}++) `,
          body(),
        ],
      };
  }
};

const leave: Maker = (cx, fuel) => {
  if (!cx.has("return") || fuel > 1 || !cx.choices.oneIn(4)) return undefined;
  return { parts: ["if (", makeExpr(cx, { type: "bool", shape: [] }, 2), ") return;"] };
};

const MAKERS: readonly (readonly [number, Maker])[] = [
  [8, declaration],
  [6, assignment],
  [1, step],
  [3, store],
  [2, readBack],
  [2, atomics],
  [1, exchange],
  [2, inPlace],
  [1, remark],
  [1, promise],
  [1, walk],
  [1, pairs],
  [1, numbered],
  [1, hiding],
  [1, chain],
  [1, chunks],
  [1, softmax],
  [1, rowLoops],
  [2, matrix],
  [2, accumulation],
  [1, stream],
  [3, branch],
  [4, loop],
  [1, leave],
];
