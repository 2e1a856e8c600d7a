/** Random statements. Each program stores into its own part of the outputs, so that nothing races. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { makeExpr } from "./expressions.ts";
import { matmul, PRODUCTS } from "./tiles.ts";
import {
  columnMajor,
  countOf,
  isFloat,
  isNarrow,
  rowMajor,
  type VariableSpec,
  type Workshop,
} from "./scope.ts";
import { type BufferSpec, declarator, type Node, type Shape, spell, type Stmt } from "./tree.ts";

const DEPTH = 4;

type Maker = (shop: Workshop, fuel: number) => Stmt | undefined;

/** Some statements. */
export function makeStmts(shop: Workshop, count: number, fuel: number): Stmt[] {
  const stmts: Stmt[] = [];
  for (let i = 0; i < count; i++) {
    const stmt = shop.dice.weighted(MAKERS)(shop, fuel);
    if (stmt !== undefined) stmts.push(stmt);
  }
  return stmts;
}

/** A type and a shape; large tiles of wide types are rare. */
function anyPlace(shop: Workshop): { readonly type: ScalarName; readonly shape: Shape } {
  return {
    type: shop.dice.pick(shop.types),
    shape: shop.dice.oneIn(6) ? [] : shop.dice.pick(shop.shapes),
  };
}

const declaration: Maker = (shop) => {
  const place = anyPlace(shop);
  const value = makeExpr(shop, place, DEPTH);
  const name = shop.name("v");
  shop.variables.push({ ...place, name });
  return { parts: [`${declarator(place.type, place.shape, name)} = `, value, ";"] };
};

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
  return { parts: [`${variable.name} ${operator} `, makeExpr(shop, variable, DEPTH), ";"] };
};

const step: Maker = (shop) => {
  const variable = target(shop);
  if (variable === undefined || variable.type === "bool") return undefined;
  if (isFloat(variable.type) && isNarrow(variable.type)) return undefined;
  return { parts: [shop.dice.pick([`${variable.name}++;`, `--${variable.name};`])] };
};

function outputOf(shop: Workshop, type: ScalarName): BufferSpec | undefined {
  const { dice, buffers } = shop;
  const known = buffers.filter((one) =>
    one.written && one.type === type && !one.name.startsWith("Z")
  );
  if (known.length > 0 && dice.oneIn(2)) return dice.pick(known);
  if (buffers.length > 11) return known[0];
  const spec: BufferSpec = {
    name: shop.name("Y"),
    type,
    length: shop.part * shop.programs - (dice.oneIn(2) ? 0 : dice.between(1, 200)),
    written: true,
    attributes: dice.pick(["", "", " __noalias"]),
  };
  buffers.push(spec);
  return spec;
}

/** Numberings of a tile's elements that give each its own place. */
function placement(shop: Workshop, shape: Shape): readonly (string | Node)[] {
  const { dice } = shop;
  const count = countOf(shape);
  const room = shop.part / count;
  const strides = dice.pick([rowMajor, rowMajor, columnMajor])(shape);
  const index = shop.indexTile(shape, strides);
  switch (dice.between(0, 5)) {
    case 0:
      return ["(", index, ` ^ ${dice.between(0, count - 1)})`];
    case 1:
      return [`(${count - 1} - `, index, ")"];
    case 2:
      return room > 1 ? ["(", index, ` * ${dice.pick([2, room])})`] : [index];
    case 3:
      return room > 1 ? ["(", index, ` + ${dice.between(0, shop.part - count)})`] : [index];
    default:
      return [index];
  }
}

/** A store of a value into its output; undefined where there is none left. */
export function storeOf(shop: Workshop, value: Node): Stmt | undefined {
  const { dice } = shop;
  const buffer = outputOf(shop, value.type);
  if (buffer === undefined) return undefined;
  const base = "(get_program_id(0) + get_program_id(1) * get_num_programs(0))";
  if (value.shape.length === 0) {
    const place = `${base} * ${shop.part} + ${dice.between(0, 31)}`;
    const store = dice.oneIn(2) ? `${buffer.name}[${place}] = ` : `*(${buffer.name} + ${place}) = `;
    return { parts: [`if (${place} < ${buffer.length}) `, [{ parts: [store, value, ";"] }]] };
  }
  const offset = [`${base} * ${shop.part} + `, ...placement(shop, value.shape)];
  const guards: (string | Node)[] = buffer.length < shop.part * shop.programs || dice.oneIn(3)
    ? ["(", ...offset, ` < ${buffer.length})`]
    : [];
  const extra: (string | Node)[] = dice.oneIn(3)
    ? [guards.length > 0 ? " & " : "", makeExpr(shop, { type: "bool", shape: value.shape }, 2)]
    : [];
  const mask = [...guards, ...extra];
  if (mask.length === 0) {
    return { parts: ["*(", buffer.name, " + ", ...offset, ") = ", value, ";"] };
  }
  return dice.oneIn(4)
    ? { parts: ["store(", buffer.name, " + ", ...offset, ", ", value, ", ", ...mask, ");"] }
    : { parts: ["*?(", ...mask, ") (", buffer.name, " + ", ...offset, ") = ", value, ";"] };
}

const store: Maker = (shop) => storeOf(shop, makeExpr(shop, anyPlace(shop), DEPTH));

/** Reads back what the program itself may have written just before, in another order. */
const readBack: Maker = (shop) => {
  const { dice } = shop;
  const written = shop.buffers.filter(({ written, name }) => written && name.startsWith("Y"));
  if (written.length === 0) return undefined;
  const buffer = dice.pick(written);
  const shape = dice.pick(shop.shapes);
  const base = "(get_program_id(0) + get_program_id(1) * get_num_programs(0))";
  const offset = [`${base} * ${shop.part} + `, ...placement(shop, shape)];
  const name = shop.name("v");
  shop.variables.push({ type: buffer.type, shape, name });
  return {
    parts: [
      `${declarator(buffer.type, shape, name)} = *?((`,
      ...offset,
      `) < ${buffer.length}) (${buffer.name} + `,
      ...offset,
      ");",
    ],
  };
};

/** Commutative atomics on counters of their own. */
const atomics: Maker = (shop) => {
  const { dice, buffers } = shop;
  const type = dice.pick(["int32", "uint32", "int64", "uint64"] as const);
  const functions = [
    ...(shop.has("atomic_add") ? ["atomic_add"] : []),
    ...(shop.has("atomic_sub") ? ["atomic_sub"] : []),
  ];
  if (functions.length === 0 || !shop.types.includes(type)) return undefined;
  const known = buffers.find((one) => one.name.startsWith("Z") && one.type === type);
  const buffer = known ?? { name: shop.name("Z"), type, length: 64, written: true, attributes: "" };
  if (known === undefined) buffers.push(buffer);
  const shape = shop.has("atomic-scalar") && dice.oneIn(4) ? [] : dice.pick(shop.shapes);
  const index = makeExpr(shop, { type: "int32", shape }, 1);
  const mask: (string | Node)[] = dice.oneIn(2)
    ? [", ", makeExpr(shop, { type: "bool", shape }, 1)]
    : [];
  return {
    parts: [
      `${dice.pick(functions)}(${buffer.name} + (`,
      index,
      " & 63), ",
      makeExpr(shop, { type, shape }, 2),
      ...mask,
      ");",
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
  const width = most * k + dice.pick([0, 0, 8, 3]);
  const a = input(left, (m - 1) * width + most * k);
  const isTurned = dice.oneIn(3);
  const height = most * k + dice.pick([0, 8]);
  const b = input(right, isTurned ? (n - 1) * height + most * k : most * k * n);
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
    { parts: [`${acc} += *${guard}${pa} @ ${isTurned ? "^" : ""}(*${guard}${pb});`] },
    { parts: [`${pa} += ${k};`] },
    { parts: [`${pb} += ${isTurned ? k : k * n};`] },
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
        pointer(left, [m, k], pa, a, [width, 1]),
        isTurned
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

/** A loop of few rounds; inside, variables from outside change. */
const loop: Maker = (shop, fuel) => {
  if (!shop.has("loop") || fuel <= 0) return undefined;
  const { dice } = shop;
  const counter = shop.name("k");
  const rounds = dice.oneIn(2)
    ? `${dice.between(0, 4)}`
    : `(get_program_id(0) & 3) + ${dice.between(0, 2)}`;
  shop.fixed.add(counter);
  const jumps = [
    ...(shop.has("loop-break") ? ["break"] : []),
    ...(shop.has("loop-continue") ? ["continue"] : []),
  ];
  const body = (): Stmt[] =>
    shop.inScope(() => {
      shop.variables.push({ name: counter, type: "int32", shape: [] });
      const stmts = makeStmts(shop, dice.between(1, 4), fuel - 1);
      if (jumps.length > 0 && dice.oneIn(3)) {
        const condition = makeExpr(shop, { type: "bool", shape: [] }, 2);
        const jump: Stmt = { parts: [`if (`, condition, `) ${dice.pick(jumps)};`] };
        stmts.push(jump, ...makeStmts(shop, 1, 0));
      }
      return stmts;
    });
  switch (dice.between(0, 4)) {
    case 0:
      if (!shop.has("while")) return undefined;
      return {
        parts: [
          `for (int ${counter} = ${rounds}; ${counter}-- > 0;) `,
          body(),
        ],
      };
    case 1:
      if (!shop.has("do")) return undefined;
      return {
        parts: [[{ parts: [`int ${counter} = 0;`] }, {
          parts: ["do ", body(), ` while (++${counter} < ${rounds});`],
        }]],
      };
    default:
      return {
        parts: [
          `for (int ${counter} = 0; ${counter} < ${rounds}; ${counter}++) `,
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
  [1, atomics],
  [2, accumulation],
  [1, stream],
  [3, branch],
  [4, loop],
  [1, leave],
];
