import { FILL_NAMES } from "../../playground/session/inputs.ts";
import { readAddress, writeAddress } from "../../playground/state/address.ts";
import { INITIAL, type PageState, type ViewName, VIEWS } from "../../playground/state/state.ts";
import { assert, assertEquals } from "../support/assert.ts";
import fc from "../support/property.ts";

const number = fc.integer({ min: -1e9, max: 1e9 });
const name = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text !== "__proto__");
const fill = fc.oneof(
  fc.record({ kind: fc.constant("random" as const), seed: number }),
  fc.record({ kind: fc.constant("numbers" as const), values: fc.array(number) }),
  fc.record({ kind: fc.constantFrom("zeros", "ones", "ramp", "picture", "unwritten") }),
);

const states = fc.record({
  entry: fc.string(),
  text: fc.string({ unit: "binary" }),
  target: fc.string(),
  kernel: fc.string(),
  variant: fc.dictionary(name, fc.string()),
  config: fc.string(),
  sizes: fc.dictionary(name, number),
  extent: number,
  budget: fc.integer({ min: 1, max: 1e9 }),
  fills: fc.dictionary(name, fill),
  view: fc.constantFrom(...Object.keys(VIEWS) as ViewName[]),
  line: number,
  tile: fc.string(),
}, { requiredKeys: [] });

Deno.test("writeAddress() and readAddress() keep every state", async () => {
  await fc.assert(fc.asyncProperty(states, async (chosen) => {
    // Text of lone surrogates has no encoding in UTF-8.
    fc.pre(Object.values(chosen).every((value) => typeof value !== "string" || isText(value)));
    const state = { ...INITIAL, ...chosen } as PageState;
    fc.pre(isText(JSON.stringify(state)));
    const read = await readAddress(await writeAddress(state));
    assert(read.kind === "state", JSON.stringify(read));
    assertEquals(JSON.parse(JSON.stringify(read.state)), JSON.parse(JSON.stringify(state)));
  }));
});

function isText(text: string): boolean {
  return new TextDecoder().decode(new TextEncoder().encode(text)) === text;
}

Deno.test("readAddress() reads the addresses that were ever given out", async () => {
  const lines = Deno.readTextFileSync(new URL("addresses.txt", import.meta.url)).trim().split("\n");
  for (const line of lines) {
    const [address = "", json = ""] = line.split(" ");
    const read = await readAddress(address);
    assert(read.kind === "state", address);
    for (const [name, value] of Object.entries(JSON.parse(json))) {
      assertEquals(Object.entries(read.state).find(([key]) => key === name)?.[1], value);
    }
  }
});

Deno.test("readAddress() says what it cannot read, and never throws", async () => {
  assertEquals((await readAddress("")).kind, "none");
  assertEquals((await readAddress("#")).kind, "none");
  const another = await readAddress("#2abc");
  assert(another.kind === "unreadable" && another.reason.includes("version"));
  const text = "__global__ void f(float *X) { *X = 1; }";
  const whole = await writeAddress({ ...INITIAL, text });
  for (let length = 2; length < whole.length; length++) {
    const read = await readAddress(whole.slice(0, length));
    // The last characters may be nothing but the mark of the end.
    if (read.kind === "state") assertEquals(read.state.text, text);
    else assertEquals(read.kind, "unreadable");
  }
  await fc.assert(fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
    await readAddress(`#1${text}`);
  }));
});

Deno.test("readAddress() refuses values of another type, and texts without end", async () => {
  for (
    const wrong of [
      { view: "nothing" },
      { sizes: { M: "many" } },
      { fills: { X: { kind: "random" } } },
      { fills: { X: { kind: "numbers", values: ["1"] } } },
      { budget: 0 },
      { variant: [1] },
    ]
  ) {
    const address = await writeAddress({ ...INITIAL, ...wrong } as unknown as PageState);
    assertEquals((await readAddress(address)).kind, "unreadable", JSON.stringify(wrong));
  }
  const bomb = await writeAddress({ ...INITIAL, text: "x".repeat(2 ** 21) });
  assertEquals((await readAddress(bomb)).kind, "unreadable");
});

Deno.test("readAddress() takes every way to fill a tensor", async () => {
  for (const kind of FILL_NAMES) {
    const filled = kind === "random"
      ? { kind, seed: 3 } as const
      : kind === "numbers"
      ? { kind, values: [1.5] } as const
      : { kind };
    const state: PageState = { ...INITIAL, fills: { X: filled } };
    const read = await readAddress(await writeAddress(state));
    assert(read.kind === "state");
    assertEquals(read.state.fills, { X: filled });
  }
});
