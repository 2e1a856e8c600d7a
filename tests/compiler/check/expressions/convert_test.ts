import { commonName, promoteName } from "../../../../compiler/check/expressions/convert.ts";
import { type ScalarName, SCALARS } from "../../../../compiler/support/scalar.ts";
import { assertEquals } from "../../../support/assert.ts";
import { codesIn, typeOf } from "../../../support/compiler/check.ts";

const NAMES = Object.keys(SCALARS) as ScalarName[];

/** Section 5.2 word by word. */
function reference(a: ScalarName, b: ScalarName): ScalarName {
  const promote = (name: ScalarName): ScalarName =>
    name.startsWith("float8")
      ? "float32"
      : ["bool", "int8", "uint8", "int16", "uint16"].includes(name)
      ? "int32"
      : name;
  const pair = [promote(a), promote(b)];
  const either = (name: ScalarName): boolean => pair.includes(name);
  if (either("float64")) return "float64";
  if (either("float32")) return "float32";
  if (either("float16") && either("bfloat16")) return "float32";
  if (either("float16")) return "float16";
  if (either("bfloat16")) return "bfloat16";
  if (either("uint64")) return "uint64";
  if (either("int64")) return "int64";
  if (either("uint32")) return "uint32";
  return "int32";
}

Deno.test("commonName() is the usual arithmetic conversions, for every pair of types", () => {
  for (const a of NAMES) {
    for (const b of NAMES) assertEquals(commonName(a, b), reference(a, b), `${a} and ${b}`);
    assertEquals(promoteName(a), reference(a, a), a);
  }
});

Deno.test("check() gives every arithmetic operator that common type", () => {
  for (const a of NAMES) {
    for (const b of NAMES) {
      const [left, right] = [SCALARS[a].spelling, SCALARS[b].spelling];
      const expected = SCALARS[reference(a, b)].spelling;
      assertEquals(typeOf(`(${left}) n + (${right}) l`), expected, `${left} + ${right}`);
    }
  }
});

Deno.test("check() assigns any number to any number, and never a number to a pointer", () => {
  for (const name of NAMES) {
    const { spelling } = SCALARS[name];
    assertEquals(codesIn(`${spelling} q = f; q = u; f = q; b = q;`), [], spelling);
    assertEquals(codesIn(`${spelling} q = n; P = q;`), ["E5302"], spelling);
  }
});
