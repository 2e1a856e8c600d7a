import { newFunc, newOp, newValue, type OpOf, type Value } from "../../../compiler/ir/func.ts";
import { constantOf, madeBy, operandsOf, regionsOf, resultOf } from "../../../compiler/ir/op.ts";
import { TILE_OPS, type TileOpRow } from "../../../compiler/ir/ops.ts";
import { argsOf, hasTrait, opsWith, TILE_OP_NAMES } from "../../../compiler/ir/table.ts";
import { type IrType, scalarType } from "../../../compiler/ir/types.ts";
import { CompilerBug } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";

const SPAN = { file: { name: "<op>", text: "" }, start: 0, end: 0 };
const INT: IrType = scalarType("int32");
const BOOL: IrType = scalarType("bool");
const POINTER: IrType = scalarType({ kind: "pointer", pointee: "int32", space: "global" });

const func = newFunc("f");
const [pointer, mask, other] = [POINTER, BOOL, INT].map((type) => newValue(func, type)) as [
  Value,
  Value,
  Value,
];

const loadOf = (...operands: readonly Value[]): OpOf<"load"> =>
  newOp(func, "load", operands, [INT], SPAN, { modifiers: [] });

Deno.test("TILE_OPS gives each operand, attribute and region of an operation its own name", () => {
  for (const name of TILE_OP_NAMES) {
    const row: TileOpRow = TILE_OPS[name];
    const args = argsOf(name);
    const regions = row.regions ?? [];
    assertEquals(new Set(regions).size, regions.length, name);
    // Keys of a row are distinct; names of another operand would hide it in a view.
    assertEquals(args.map((arg) => arg.name), Object.keys(row.args), name);
    assert(args.every((arg) => arg.name !== "operands" && !/^\d/.test(arg.name)), name);
    // What may be absent comes last, and any number of operands last of all.
    const counts = args.map(({ count }) => count);
    const order = ["one", "optional", "any"];
    assertEquals(
      counts,
      counts.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
      name,
    );
    assert(counts.filter((count) => count === "any").length <= 1, name);
  }
});

Deno.test("TILE_OPS has traits that go together", () => {
  for (const name of opsWith("elementwise")) assertEquals(TILE_OPS[name].effect, "pure", name);
  for (const name of opsWith("renames")) assert(argsOf(name).length === 1, name);
  for (const name of opsWith("folds")) assert(TILE_OPS[name].commutes, name);
  for (const name of opsWith("adds")) assertEquals(argsOf(name).length, 2, name);
  for (const name of opsWith("derives")) assert(argsOf(name)[0]?.count === "one", name);
});

Deno.test("operandsOf() names operands, and gives undefined for those that are absent", () => {
  const whole = operandsOf(loadOf(pointer, mask, other));
  assertEquals([whole.pointer, whole.mask, whole.other], [pointer, mask, other]);
  const plain = operandsOf(loadOf(pointer));
  assertEquals([plain.pointer, plain.mask, plain.other], [pointer, undefined, undefined]);
});

Deno.test("operandsOf() gives lists of operands of which there may be any number", () => {
  const condition = newOp(func, "condition", [mask, other, pointer], [], SPAN);
  assertEquals(operandsOf(condition).continues, mask);
  assertEquals(operandsOf(condition).carried, [other, pointer]);
  assertEquals(operandsOf(newOp(func, "condition", [mask], [], SPAN)).carried, []);
  assertEquals(operandsOf(newOp(func, "yield", [other], [], SPAN)).values, [other]);
});

Deno.test("operandsOf() throws CompilerBug where a required operand is missing", () => {
  const { pointer: missing } = TILE_OPS.load.args;
  assertEquals(missing, "ptr");
  const operands = operandsOf(loadOf());
  assertThrows(() => operands.pointer, CompilerBug, "load lacks its operand pointer");
});

Deno.test("regionsOf() names regions", () => {
  const [test, body] = [0, 1].map(() => ({ params: [], ops: [] }));
  const loop = newOp(func, "while", [], [], SPAN, {}, [test, body].flatMap((one) => one ?? []));
  assertEquals(regionsOf(loop).test, test);
  assertEquals(regionsOf(loop).body, body);
});

Deno.test("resultOf(), madeBy() and constantOf() follow a value to its operation", () => {
  const constant = newOp(func, "constant", [], [INT], SPAN, { value: 7n });
  const value = resultOf(constant);
  assertEquals(constantOf(value), 7n);
  assertEquals(constantOf(other), undefined);
  assertEquals(madeBy(value, "constant")?.attrs.value, 7n);
  assertEquals(madeBy(value, "load"), undefined);
  assertThrows(() => resultOf(newOp(func, "barrier", [], [], SPAN)), CompilerBug, "barrier");
});

Deno.test("hasTrait() narrows an operation to those whose rows have it", () => {
  const splat = newOp(func, "splat", [other], [{ element: "int32", shape: [4] }], SPAN);
  assert(hasTrait(splat, "reshapes"));
  assertEquals(operandsOf(splat).value, other);
  assert(!hasTrait(loadOf(pointer), "reshapes"));
});
