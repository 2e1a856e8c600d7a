/**
 * Loops over rows, chunk by chunk: each reduces what it loads, stores what it makes of it, or both, in place or elsewhere, and the
 * next one goes over the same rows. What is loaded ahead, streamed or kept must not show; tensors end with their last row.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { ProgramContext } from "./scope.ts";
import { declarator, spell, type Stmt } from "./tree.ts";

interface Rows {
  readonly cx: ProgramContext;
  readonly wide: ScalarName;
  /** Rows and columns of a tile. */
  readonly shape: readonly number[];
  /** Columns of a row, and the text of their number. */
  readonly length: number;
  readonly size: string;
  /** Index of the rows, as a tile or a scalar, and which of them there are. */
  readonly row: string;
  readonly isThere: string | undefined;
  readonly tensors: readonly {
    readonly name: string;
    readonly type: ScalarName;
    readonly written: boolean;
  }[];
  /** What loops have reduced rows to. */
  readonly sums: string[];
}

export function rowLoops(cx: ProgramContext): readonly Stmt[] | undefined {
  const { choices } = cx;
  const isKnown = (["loop", "reduce-sum", "reduce-max"] as const).every((one) => cx.has(one));
  if (!isKnown || cx.buffers.length > 6 || cx.scalars.length > 6) return undefined;
  const wide = choices.pick(["int32", "float32"] as const);
  if (!cx.types.includes(wide)) return undefined;
  const columns = choices.pick([16, 32, 64, 128, 256].filter((one) => one <= cx.part));
  const across = choices.oneIn(2)
    ? 1
    : choices.pick([2, 4, 8].filter((one) => one * columns <= cx.part * 2));
  const shape = across === 1 ? [columns] : [across, columns];
  const length = Math.max(
    1,
    columns * choices.between(1, 5) - choices.pick([0, 0, 1, 3, columns - 1]),
  );
  const rows = across * cx.programs - (across === 1 ? 0 : choices.between(0, 1));
  const gap = choices.pick([0, 0, 1, 16]);
  const types: readonly ScalarName[] = wide === "int32"
    ? ["int32", "int8", "uint8", "int16"]
    : ["float32", "float16", "bfloat16"];
  const known = types.filter((type) => cx.types.includes(type));
  const parameter = (value: number): string => {
    const name = cx.name("n");
    cx.scalars.push({ name, type: "int32", value: `${value}`, attributes: "" });
    return name;
  };
  const tensors = Array.from({ length: choices.between(1, 3) }, (_, nth) => {
    const [name, type, written] = [
      cx.name("R"),
      choices.pick(known),
      nth === 0 || choices.oneIn(3),
    ];
    const attributes = choices.pick(["", " __noalias"]);
    cx.buffers.push({
      name,
      type,
      length: (rows - 1) * (length + gap) + length,
      written,
      attributes,
    });
    return { name, type, written };
  });
  const row = cx.name("r");
  const [stride, size] = [
    parameter(length + gap),
    choices.oneIn(3) ? `${length}` : parameter(length),
  ];
  const mine = across === 1 ? "" : `${cx.programIndex} * ${across} + 0 ... ${across}`;
  const isWhole = rows === across * cx.programs && choices.oneIn(2);
  const of: Rows = {
    cx,
    wide,
    shape,
    length,
    size,
    row: across === 1 ? `${row} * ${stride}` : `${row}[:, newaxis] * ${stride}`,
    isThere: across === 1 || isWhole ? undefined : `${row}[:, newaxis] < ${parameter(rows)}`,
    tensors,
    sums: [],
  };
  return [
    {
      parts: [
        across === 1 ? `int ${row} = ${cx.programIndex};` : `int ${row}[${across}] = ${mine};`,
      ],
    },
    ...Array.from({ length: choices.between(1, 3) }, () => rowLoop(of)).flat(),
  ];
}

/** One loop, with what it carries before it. */
function rowLoop(of: Rows): readonly Stmt[] {
  const { cx, wide, shape, length, size, row, isThere, tensors, sums } = of;
  const { choices } = cx;
  const columns = shape.at(-1) ?? 1;
  const isOneRow = shape.length === 1;
  const [k, c] = [cx.name("k"), cx.name("c")];
  const lane = isOneRow ? c : `${c}[newaxis, :]`;
  const body: Stmt[] = [{ parts: [`int ${c}[${columns}] = ${k} + 0 ... ${columns};`] }];
  const mask = `${lane} < ${size}${isThere === undefined ? "" : ` && ${isThere}`}`;
  const tile = shape.join(", ");
  const terms = [...sums];
  for (const { name, type } of tensors) {
    if (choices.oneIn(4)) continue;
    const x = cx.name("x");
    const pointer = `${name} + ${row} + ${lane}`;
    const loaded = choices.oneIn(2)
      ? `*?(${mask}) (${pointer})`
      : `load(${pointer}, ${mask}, (${spell(type)})${choices.pick([0, 2])})`;
    body.push({ parts: [`${declarator(wide, shape, x)} = (${spell(wide)}[${tile}])${loaded};`] });
    terms.push(x);
  }
  const any = (): string => terms.length === 0 ? `(${spell(wide)}[${tile}])1` : choices.pick(terms);
  const operator = (): string => choices.pick(["+", "-", "+"]);
  const value = `(${spell(wide)}[${tile}])(${any()} ${operator()} ${any()})`;
  const before: Stmt[] = [];
  if (choices.between(0, 2) > 0) {
    const sum = cx.name("v");
    const kept = isOneRow ? [] : [shape[0] ?? 1];
    const [axis, item] = [isOneRow ? "" : ":, ", choices.pick(["+", "max"])];
    const reduced = `(${value})[${axis}${item}]`;
    const next = item === "max"
      ? `max(${sum}, ${reduced})`
      : choices.pick([`${sum} + ${reduced}`, `${reduced} - ${sum}`]);
    before.push({ parts: [`${declarator(wide, kept, sum)} = ${choices.between(0, 2)};`] });
    body.push({ parts: [`${sum} = ${next};`] });
    if (choices.oneIn(2)) terms.push(isOneRow ? sum : `${sum}[:, newaxis]`);
    sums.push(isOneRow ? sum : `${sum}[:, newaxis]`);
    cx.declare({ type: wide, shape: kept, name: sum });
  }
  const outputs = tensors.filter(({ written }) => written);
  if (choices.between(0, 2) > 0) {
    const { name, type } = choices.pick(outputs);
    const stored = `(${spell(type)}[${tile}])(${
      spell(wide)
    }[${tile}])(${any()} ${operator()} ${any()})`;
    const further = choices.oneIn(4)
      ? ` && ${lane} ${choices.pick(["> 3", `!= ${length >> 1}`])}`
      : "";
    const store: Stmt = {
      parts: [`*?(${mask}${further}) (${name} + ${row} + ${lane}) = ${stored};`],
    };
    body.push(choices.oneIn(6) ? { parts: [`if (${k} != ${columns}) `, [store]] } : store);
  }
  const hint = choices.pick(["", "", `#pragma tri loop num_stages(${choices.between(1, 5)})\n  `]);
  const heads = [
    `for (int ${k} = 0; ${k} < ${size}; ${k} += ${columns}) `,
    `for (int ${k} = 0; ${k} < ${size}; ${k} += ${columns}) `,
    `for (int ${k} = (${size} - 1) / ${columns} * ${columns}; ${k} >= 0; ${k} -= ${columns}) `,
    `for (int ${k} = ${
      choices.pick([columns, 3])
    }; ${k} < ${size} + ${columns}; ${k} += ${columns}) `,
  ];
  return [...before, { parts: [`${hint}${choices.pick(heads)}`, body] }];
}
