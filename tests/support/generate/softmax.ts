/**
 * Loops that go over a row: a running maximum with a sum of powers, as an online softmax has them, and a second loop that
 * goes over the same addresses and stores what it makes of the row, in place or elsewhere. What is flushed, loaded ahead
 * or streamed there must not show.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { ProgramContext } from "./scope.ts";
import { spell, type Stmt } from "./tree.ts";

export function softmax(cx: ProgramContext): readonly Stmt[] | undefined {
  const { choices } = cx;
  const power = choices.pick(["exp", "exp2"] as const);
  const isKnown = ([power, "loop", "reduce-sum", "reduce-max"] as const).every((one) =>
    cx.has(one)
  );
  if (!isKnown || !cx.types.includes("float32") || cx.buffers.length > 8) return undefined;
  const extent = choices.pick([16, 32, 64, 128, 256].filter((one) => one <= cx.part));
  const length = Math.max(1, extent * choices.between(1, 4) - choices.pick([0, 1, 3, extent - 1]));
  const types: readonly ScalarName[] = ["float32", "float16", "bfloat16"];
  const known = types.filter((type) => cx.types.includes(type));
  const tensor = (type: ScalarName, written: boolean): string => {
    const name = cx.name("P");
    const attributes = choices.pick(["", " __noalias"]);
    cx.buffers.push({ name, type, length: cx.programs * length, written, attributes });
    return name;
  };
  const isInPlace = choices.oneIn(3);
  const [from, to] = [choices.pick(known), choices.pick(known)];
  const x = tensor(from, isInPlace);
  const y = isInPlace ? x : tensor(to, true);
  const stored = isInPlace ? from : to;
  const [top, sum, row] = [cx.name("v"), cx.name("v"), cx.name("x")];
  const [k, at, newer] = [cx.name("k"), cx.name("i"), cx.name("m")];
  const scale = choices.pick(["", "", " * 8.0f", " * -0.5f"]);
  const start = choices.pick(["-F32_INFINITY", "-F32_INFINITY", "-1e30f", "0", "-100"]);
  const hint = choices.pick(["", "", `#pragma tri loop num_stages(${choices.between(1, 4)})\n  `]);
  const loop = `${hint}for (int ${k} = 0; ${k} < ${length}; ${k} += ${extent}) `;
  const place = `${cx.programIndex} * ${length} + ${at}`;
  const load = `(float[${extent}])load(${x} + (${place}), ${at} < ${length}, (${spell(from)})`;
  const read: readonly Stmt[] = [
    { parts: [`int ${at}[${extent}] = ${k} + 0 ... ${extent};`] },
    { parts: [`float ${row}[${extent}] = ${load}-F32_INFINITY)${scale};`] },
  ];
  const older = choices.oneIn(4) ? `${top} - ${newer} - 1` : `${top} - ${newer}`;
  const result = choices.pick([
    `${power}(${row} - ${top}) / ${sum}`,
    `${power}(${row} - ${top})`,
    `${row} + ${sum}`,
    `(${row} > ${top} - 4 ? ${power}(${row} - ${top}) : 0) * (1 / ${sum})`,
  ]);
  cx.declare({ type: "float32", shape: [], name: top });
  cx.declare({ type: "float32", shape: [], name: sum });
  return [
    { parts: [`float ${top} = ${start};`] },
    { parts: [`float ${sum} = ${choices.pick(["0", "0", "1"])};`] },
    {
      parts: [loop, [
        ...read,
        { parts: [`float ${newer} = max(${top}, ${row}[max]);`] },
        {
          parts: [
            `${sum} = ${sum} * ${power}(${older}) + ${power}(${row} - ${newer})[+];`,
          ],
        },
        { parts: [`${top} = ${newer};`] },
      ]],
    },
    {
      parts: [loop, [
        ...read,
        {
          parts: [
            `*?(${at} < ${length}) (${y} + (${place})) = (${spell(stored)}[${extent}])(${result});`,
          ],
        },
      ]],
    },
  ];
}
