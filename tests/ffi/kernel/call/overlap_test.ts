import { Device } from "../../../../ffi/device.ts";
import { isSameMemory, liesBetweenRows, meets } from "../../../../ffi/kernel/call/overlap.ts";
import { Tensor } from "../../../../ffi/tensors/tensor.ts";
import fc from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { FakeDriver } from "../../../support/driver/fake_driver.ts";

/** The addresses of all bytes of a tensor's elements. */
function bytesOf(tensor: Tensor): Set<number> {
  const bytes = new Set<number>();
  const visit = (axis: number, offset: number): void => {
    if (axis === tensor.shape.length) {
      for (let byte = 0; byte < 4; byte++) bytes.add(Number(tensor.address) + offset * 4 + byte);
      return;
    }
    for (let i = 0; i < (tensor.shape[axis] ?? 0); i++) {
      visit(axis + 1, offset + i * (tensor.strides[axis] ?? 0));
    }
  };
  visit(0, 0);
  return bytes;
}

const window = fc.record({
  row: fc.nat(5),
  rows: fc.integer({ min: 1, max: 6 }),
  column: fc.nat(7),
  columns: fc.integer({ min: 1, max: 8 }),
}).filter(({ row, rows, column, columns }) => row + rows <= 6 && column + columns <= 8);

Deno.test("liesBetweenRows() is right whenever it says yes, and says so for columns side by side", () => {
  using device = Device.fromDriver(new FakeDriver());
  using matrix = device.zeros("float32", [6, 8]);
  const cut = (
    { row, rows, column, columns }: { row: number; rows: number; column: number; columns: number },
  ) => matrix.narrow(0, row, rows).narrow(1, column, columns);
  fc.assert(fc.property(window, window, fc.boolean(), (one, two, transposed) => {
    const [a, b] = [cut(one), transposed ? cut(two).transpose() : cut(two)];
    const apart = bytesOf(a).isDisjointFrom(bytesOf(b));
    if (liesBetweenRows(a, b)) assert(apart, `${JSON.stringify(one)} ${JSON.stringify(two)}`);
    const areSideBySide = one.column + one.columns <= two.column ||
      two.column + two.columns <= one.column;
    if (areSideBySide && one.rows > 1 && two.rows > 1 && one.columns < 8) {
      assert(liesBetweenRows(a, b));
    }
  }));
});

Deno.test("meets() is true for a common byte, and never for an empty stretch", () => {
  const at = (start: number[], end: number[]): boolean => meets({ start, end }, 0, 1);
  assertEquals(at([0, 4], [4, 8]), false);
  assertEquals(at([0, 3], [4, 8]), true);
  assertEquals(at([5, 0], [5, 8]), false);
});

Deno.test("isSameMemory() is true for the same elements in the same order alone", () => {
  using device = Device.fromDriver(new FakeDriver());
  using matrix = device.zeros("float32", [4, 4]);
  assert(isSameMemory(matrix, matrix));
  assert(isSameMemory(matrix.narrow(0, 1, 2), matrix.narrow(0, 1, 2)));
  const { buffer, dtype, shape, strides } = matrix;
  const others = [
    matrix.transpose(),
    matrix.narrow(0, 0, 3),
    matrix.narrow(0, 1, 3),
    matrix.narrow(1, 0, 2, 2),
    matrix.reshape([16]),
    new Tensor(buffer, { dtype: "int32", shape, strides, offset: 0 }),
    new Tensor(buffer, { dtype, shape, strides: [2, 1], offset: 0 }),
  ];
  for (const other of others) assert(!isSameMemory(matrix, other), `${other}`);
});
