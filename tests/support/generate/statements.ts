/** Random statements. Each program stores into its own part of the outputs, so that nothing races. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { chain } from "./chains.ts";
import { assignable } from "./elementwise.ts";
import { exchange, inPlace, orderOf, promise, remark, walk } from "./effects.ts";
import { makeExpr } from "./expressions.ts";
import { matrix } from "./matrices.ts";
import { anyDestination, outputOf, ownIndices, ownPart } from "./destinations.ts";
import { matmul, PRODUCTS } from "./tiles.ts";
import { isFloat, isNarrow, type VariableSpec, type Workshop } from "./scope.ts";
import { declarator, type Node, type Shape, spell, type Stmt, type Wanted } from "./tree.ts";

const DEPTH = 4;

type Maker = (shop: Workshop, fuel: number) => Stmt | readonly Stmt[] | undefined;

/** Some statements. */
export function makeStmts(shop: Workshop, count: number, fuel: number): Stmt[] {
  const stmts: Stmt[] = [];
  for (let i = 0; i < count; i++) {
    const stmt = shop.dice.weighted(MAKERS)(shop, fuel);
    if (stmt !== undefined) stmts.push(...[stmt].flat());
  }
  return stmts;
}

const declaration: Maker = (shop) => {
  const { dice } = shop;
  const destination = anyDestination(shop);
  const value = assignable(shop, destination, DEPTH);
  const name = shop.name("v");
  const word = dice.oneIn(8) ? "const " : "";
  const isFilled = word === "" && dice.oneIn(8);
  const head = `${word}${shop.declarator(destination.type, destination.shape, name)}`;
  shop.declare({ ...destination, name });
  if (word !== "") shop.fixed.add(name);
  // Assigned later, or in braces: the same.
  if (isFilled) return [{ parts: [`${head};`] }, { parts: [`${name} = `, value, ";"] }];
  return dice.oneIn(8)
    ? { parts: [`${head} = { `, value, " };"] }
    : { parts: [`${head} = `, value, ";"] };
};

/** A variable that hides one of an outer scope, and is forgotten with its block. */
const hiding: Maker = (shop, fuel) => {
  const { dice } = shop;
  const outer = shop.variables.filter(({ name }) => name.startsWith("v") && !shop.fixed.has(name));
  if (outer.length === 0 || fuel <= 0) return undefined;
  const { name } = dice.pick(outer);
  const destination = anyDestination(shop);
  return {
    parts: [
      shop.inScope(() => {
        const value = makeExpr(withoutName(shop, name), destination, DEPTH - 1);
        shop.declare({ ...destination, name });
        return [
          { parts: [`${declarator(destination.type, destination.shape, name)} = `, value, ";"] },
          ...makeStmts(shop, dice.between(1, 3), fuel - 1),
        ];
      }),
    ],
  };
};

/** A name is in scope in its own initialiser (language.md, 4.2), so nothing may read it there. */
function withoutName(shop: Workshop, name: string): Workshop {
  const at = shop.variables.findIndex((variable) => variable.name === name);
  if (at >= 0) shop.variables.splice(at, 1);
  return shop;
}

/** A variable that may change. */
function target(shop: Workshop): VariableSpec | undefined {
  const open = shop.variables.filter(({ name }) => !shop.fixed.has(name));
  return open.length === 0 ? undefined : shop.dice.pick(open);
}

const assignment: Maker = (shop) => {
  const variable = target(shop);
  if (variable === undefined) return undefined;
  const operators = variable.type === "bool"
    ? ["=", "=", "&=", "|=", "^="]
    : isFloat(variable.type)
    ? ["=", "+=", "-=", "*="]
    : ["=", "=", "+=", "-=", "*=", "&=", "^="];
  const operator = isNarrow(variable.type) && isFloat(variable.type)
    ? "="
    : shop.dice.pick(operators);
  const value = operator === "="
    ? assignable(shop, variable, DEPTH)
    : makeExpr(shop, variable, DEPTH);
  return { parts: [`${variable.name} ${operator} `, value, ";"] };
};

const step: Maker = (shop) => {
  const variable = target(shop);
  if (variable === undefined || variable.type === "bool") return undefined;
  if (isFloat(variable.type) && isNarrow(variable.type)) return undefined;
  return { parts: [shop.dice.pick([`${variable.name}++;`, `--${variable.name};`])] };
};

const STORE_MODIFIERS = ["wb", "cg", "cs", "wt", "evict_first", "evict_last"];

/** A store of a value into its output; undefined where there is none left. */
export function storeOf(shop: Workshop, { type, shape }: Wanted, value: Node): Stmt | undefined {
  const { dice } = shop;
  const buffer = outputOf(shop, type);
  if (buffer === undefined) return undefined;
  if (shape.length === 0) {
    const destination = `${ownPart(shop)} + ${dice.between(0, 31)}`;
    const store = dice.oneIn(2)
      ? `${buffer.name}[${destination}] = `
      : `*(${buffer.name} + ${destination}) = `;
    return { parts: [`if (${destination} < ${buffer.length}) `, [{ parts: [store, value, ";"] }]] };
  }
  const offset = [`${ownPart(shop)} + `, ...ownIndices(shop, shape)];
  const guards: (string | Node)[] = buffer.length < shop.part * shop.programs || dice.oneIn(3)
    ? ["(", ...offset, ` < ${buffer.length})`]
    : [];
  const extra: (string | Node)[] = dice.oneIn(3)
    ? [guards.length > 0 ? " & " : "", makeExpr(shop, { type: "bool", shape: shape }, 2)]
    : [];
  const mask = [...guards, ...extra];
  if (mask.length === 0) {
    return { parts: ["*(", buffer.name, " + ", ...offset, ") = ", value, ";"] };
  }
  const modifier = dice.oneIn(2) && buffer.qualifier !== "volatile"
    ? `, "${dice.pick(STORE_MODIFIERS)}");`
    : ");";
  return dice.oneIn(4)
    ? { parts: ["store(", buffer.name, " + ", ...offset, ", ", value, ", ", ...mask, modifier] }
    : { parts: ["*?(", ...mask, ") (", buffer.name, " + ", ...offset, ") = ", value, ";"] };
}

const store: Maker = (shop) => {
  const destination = anyDestination(shop);
  return storeOf(shop, destination, assignable(shop, destination, DEPTH));
};

/** Reads back what the program itself may have written just before, in another order. */
const readBack: Maker = (shop) => {
  const { dice } = shop;
  const written = shop.buffers.filter(({ written, name }) => written && name.startsWith("Y"));
  if (written.length === 0) return undefined;
  const buffer = dice.pick(written);
  const shape = dice.pick(shop.shapes);
  const offset = [`${ownPart(shop)} + `, ...ownIndices(shop, shape)];
  const name = shop.name("v");
  shop.declare({ type: buffer.type, shape, name });
  return {
    parts: [
      `${shop.declarator(buffer.type, shape, name)} = *?((`,
      ...offset,
      `) < ${buffer.length}) (${buffer.name} + `,
      ...offset,
      ");",
    ],
  };
};

/** Commutative atomics on counters of their own, where lanes and programs meet. */
const atomics: Maker = (shop) => {
  const { dice, buffers } = shop;
  const type = dice.pick(["int32", "uint32", "int64", "uint64", "float32", "float64"] as const);
  if (!shop.types.includes(type)) return undefined;
  // Sums and differences commute with each other; every other function only with itself.
  const families: readonly (readonly string[])[] = isFloat(type)
    ? shop.has("atomic_add") ? [["atomic_add"], ["atomic_min"], ["atomic_max"]] : []
    : [
      ...(shop.has("atomic_add") && shop.has("atomic_sub") ? [["atomic_add", "atomic_sub"]] : []),
      ...(shop.has("atomic_bits") ? [["atomic_and"], ["atomic_or"], ["atomic_xor"]] : []),
      ...(shop.has("atomic_extreme") ? [["atomic_min"], ["atomic_max"]] : []),
    ];
  if (families.length === 0) return undefined;
  const family = dice.pick(families);
  const letter = `Z${family[0]?.slice(7, 10)}`;
  const known = buffers.find((one) => one.name.startsWith(letter) && one.type === type);
  if (known === undefined && buffers.length > 12) return undefined;
  const buffer = known ??
    {
      name: shop.name(letter),
      type,
      length: 64,
      written: true,
      attributes: "",
      ...(isFloat(type) ? { zeroed: true } : {}),
    };
  if (known === undefined) buffers.push(buffer);
  const shape = shop.has("atomic-scalar") && dice.oneIn(4) ? [] : dice.pick(shop.shapes);
  const index = makeExpr(shop, { type: "int32", shape }, 1);
  const mask: (string | Node)[] = dice.oneIn(2)
    ? [", ", makeExpr(shop, { type: "bool", shape }, 1)]
    : [];
  // Sums of few small integers are exact in any order.
  const value: (string | Node)[] = isFloat(type)
    ? ["(", makeExpr(shop, { type: "int32", shape }, 2), " & 15)"]
    : [makeExpr(shop, { type, shape }, 2)];
  return {
    parts: [
      `${dice.pick(family)}(${buffer.name} + (`,
      ...[index, " & 63), ", ...value, ...mask, `${orderOf(shop)});`],
    ],
  };
};

/** `x += a @ b`. */
const accumulation: Maker = (shop) => {
  const variable = target(shop);
  const product = variable && matmul(shop, variable, DEPTH - 1);
  return product === undefined ? undefined : { parts: [`${variable?.name} += `, product, ";"] };
};

/**
 * Pointers that walk over two matrices whose products are summed: what matmul kernels do. The inputs end with the
 * last element that is read, so a load too far ahead is noticed.
 */
const stream: Maker = (shop) => {
  const { dice } = shop;
  const rows = PRODUCTS.filter(([, , feature]) => shop.has(feature));
  if (rows.length === 0 || !shop.has("loop") || shop.buffers.length > 8) return undefined;
  const [result, types] = dice.pick(rows);
  const extents = shop.part > 256 ? [8, 16, 32, 64] : [1, 2, 4, 8, 16];
  const [m, n, k] = [dice.pick(extents), dice.pick(extents), dice.pick(extents)];
  if (m * n > shop.part) return undefined;
  const most = dice.between(1, 5);
  const input = (type: ScalarName, length: number): string => {
    const name = shop.name("W");
    const attributes = dice.pick(["", " __noalias", " __readonly"]);
    shop.buffers.push({ name, type, length, written: false, attributes });
    return name;
  };
  const [left, right] = [dice.pick(types), dice.pick(types)];
  const isLeftTransposed = dice.oneIn(3);
  const width = most * k + dice.pick([0, 0, 8, 3]);
  const a = input(left, isLeftTransposed ? most * k * m : (m - 1) * width + most * k);
  const isTransposed = dice.oneIn(3);
  const height = most * k + dice.pick([0, 8]);
  const b = input(right, isTransposed ? (n - 1) * height + most * k : most * k * n);
  const [acc, pa, pb, counter] = [shop.name("v"), shop.name("p"), shop.name("p"), shop.name("k")];
  const pointer = (
    type: ScalarName,
    shape: Shape,
    name: string,
    base: string,
    strides: number[],
  ): Stmt => ({
    parts: [
      `const ${spell(type)} *${name}[${shape.join(", ")}] = ${base} + `,
      shop.indexTile(shape, strides),
      ";",
    ],
  });
  const rounds = dice.oneIn(2) ? `${most}` : `(get_program_id(0) & 3) + ${most} - 3`;
  const guard = dice.oneIn(3) ? `?(${counter} * ${k} < ${dice.between(0, most * k)}) ` : "";
  const hint = dice.pick(["", "", `#pragma tri loop num_stages(${dice.between(1, 4)})\n  `]);
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
  if (dice.oneIn(4)) {
    body.push(...shop.inScope(() => {
      shop.variables.push({ name: acc, type: result, shape: [m, n] });
      return makeStmts(shop, 1, 0);
    }));
  }
  shop.variables.push({ name: acc, type: result, shape: [m, n] });
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

const branch: Maker = (shop, fuel) => {
  if (!shop.has("if") || fuel <= 0) return undefined;
  const { dice } = shop;
  const condition = makeExpr(shop, { type: "bool", shape: [] }, 2);
  const block = (): Stmt[] => shop.inScope(() => makeStmts(shop, dice.between(1, 3), fuel - 1));
  return dice.oneIn(2)
    ? { parts: ["if (", condition, ") ", block()] }
    : { parts: ["if (", condition, ") ", block(), " else ", block()] };
};

const LOOP_HINTS = ["unroll", "tri loop unroll(2)", "tri loop flatten", "tri loop pipeline(off)"];

/** A loop of few rounds; inside, variables from outside change. */
const loop: Maker = (shop, fuel) => {
  if (!shop.has("loop") || fuel <= 0) return undefined;
  const { dice } = shop;
  const counter = shop.name("k");
  const isConstant = dice.oneIn(2);
  const rounds = isConstant
    ? `${dice.between(0, 4)}`
    : `(get_program_id(0) & 3) + ${dice.between(0, 2)}`;
  shop.fixed.add(counter);
  const jumps = [
    ...(shop.has("loop-break") ? ["break"] : []),
    ...(shop.has("loop-continue") ? ["continue"] : []),
  ];
  const hint = dice.oneIn(6) ? `#pragma ${dice.pick(LOOP_HINTS)}\n  ` : "";
  const body = (first: readonly Stmt[] = [], mayJump = true): Stmt[] =>
    shop.inScope(() => {
      shop.variables.push({ name: counter, type: "int32", shape: [] });
      const stmts = [...first, ...makeStmts(shop, dice.between(1, 4), fuel - 1)];
      if (mayJump && jumps.length > 0 && dice.oneIn(3)) {
        const condition = makeExpr(shop, { type: "bool", shape: [] }, 2);
        const jump: Stmt = { parts: [`if (`, condition, `) ${dice.pick(jumps)};`] };
        stmts.push(jump, ...makeStmts(shop, 1, 0));
      }
      return stmts;
    });
  const start: Stmt = { parts: [`int ${counter} = 0;`] };
  // A counter that is stepped first ends the loop whatever `continue` leaves out.
  const advance: Stmt = { parts: [`${counter}++;`] };
  switch (dice.between(0, 6)) {
    case 0:
      return { parts: [`${hint}for (int ${counter} = ${rounds}; ${counter}-- > 0;) `, body()] };
    case 1:
      if (!shop.has("do")) return undefined;
      return {
        parts: [[start, { parts: ["do ", body(), ` while (++${counter} < ${rounds});`] }]],
      };
    case 2: {
      if (!shop.has("while")) return undefined;
      const condition: (string | Node)[] = dice.oneIn(2)
        ? [` && `, makeExpr(shop, { type: "bool", shape: [] }, 2)]
        : [];
      return {
        parts: [[start, {
          parts: [`while (${counter} < ${rounds}`, ...condition, ") ", body([advance])],
        }]],
      };
    }
    case 3:
      if (!shop.has("loop-break")) return undefined;
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

const leave: Maker = (shop, fuel) => {
  if (!shop.has("return") || fuel > 1 || !shop.dice.oneIn(4)) return undefined;
  return { parts: ["if (", makeExpr(shop, { type: "bool", shape: [] }, 2), ") return;"] };
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
  [1, hiding],
  [1, chain],
  [2, matrix],
  [2, accumulation],
  [1, stream],
  [3, branch],
  [4, loop],
  [1, leave],
];
