import { printDeclaration } from "../../codegen/declarations.ts";
import { array, type Doc, flat, quote } from "../../codegen/doc.ts";
import { type Shareable, type SharedNames, shareValues } from "../../codegen/templates.ts";
import { assertEquals } from "../support/assert.ts";

const NAMES: SharedNames = {
  constant: "F_ROW",
  function: "fRow",
  type: "Row",
  reserved: new Set(),
  taken: new Set(["a"]),
};

/** `["text", n]` */
function row(text: string, ...numbers: number[]): Doc {
  return array([quote(text), ...numbers.map(String)]);
}

function shared(values: readonly Shareable[], names = NAMES): [string[], string[]] {
  const { declarations, refer } = shareValues(values, names);
  return [declarations.map(printDeclaration), values.map(({ value }) => flat(refer(value)))];
}

Deno.test("shareValues() makes one function of what differs in numbers alone", () => {
  const values = [row("M % 8 == 0, 3", 8, 1), row("M % 16 == 0, 3", 16, 2)].map((value) => ({
    value,
  }));
  assertEquals(shared(values), [
    ["const fRow = (b: number, c: number): Row => [`M % ${b} == 0, 3`, b, c];"],
    ["fRow(8, 1)", "fRow(16, 2)"],
  ]);
});

Deno.test("shareValues() names numbers after those that the source was compiled with, and derives others", () => {
  const values = [16, 64].map((BLOCK) => ({
    value: row(`${BLOCK - 1} "quoted" \`\${x}\``, BLOCK * BLOCK, BLOCK + 1),
    numbers: { BLOCK, WARPS: 4 },
  }));
  assertEquals(shared(values), [
    [
      "const fRow = (\n  block: number,\n  b = block - 1,\n  c = block * block,\n  d = block + 1,\n" +
      '): Row => [`${b} "quoted" \\`\\${x}\\``, c, d];',
    ],
    ["fRow(16)", "fRow(64)"],
  ]);
});

Deno.test("shareValues() takes n - 1 from n where both are there", () => {
  const values = [4, 32].map((n) => ({ value: row(`${n - 1} / ${n}`) }));
  assertEquals(shared(values), [
    ["const fRow = (b: number, c = b - 1): Row => [`${c} / ${b}`];"],
    ["fRow(4)", "fRow(32)"],
  ]);
});

Deno.test("shareValues() keeps names and other numbers as they are, and avoids taken names", () => {
  const values = [row("ld_16 + sm_90 + 1.5"), row("ld_17 + sm_90 + 1.5")].map((value) => ({
    value,
  }));
  assertEquals(shared([...values, ...values], { ...NAMES, reserved: new Set(["F_ROW"]) }), [
    [
      'const F_ROW_: Row = ["ld_16 + sm_90 + 1.5"];',
      'const F_ROW_2: Row = ["ld_17 + sm_90 + 1.5"];',
    ],
    ["F_ROW_", "F_ROW_2", "F_ROW_", "F_ROW_2"],
  ]);
});

Deno.test("shareValues() uses a hint only where all equal values have it", () => {
  const values = [
    { value: row("8"), numbers: { TILE: 8 } },
    { value: row("8"), numbers: { TILE: 4 } },
    { value: row("16"), numbers: { TILE: 16 } },
  ];
  assertEquals(shared(values)[0], ["const fRow = (b: number): Row => [`${b}`];"]);
});
