import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { chunkAddress, readDescriptor } from "../../../emulator/matrix/descriptor.ts";
import { groupLayout, groupOperand } from "../../../compiler/layout/warp_group.ts";
import { solve, spaceOf } from "../../../compiler/linear/f2.ts";
import { must } from "../../../compiler/support/bug.ts";

const anyOperand = fc.record({
  rows: fc.integer({ min: 3, max: 8 }).map((bits) => 2 ** bits),
  columns: fc.integer({ min: 4, max: 8 }).map((bits) => 2 ** bits),
  inner: fc.constantFrom<0 | 1>(0, 1),
  depthAxis: fc.constantFrom<0 | 1>(0, 1),
  part: fc.nat(),
  step: fc.nat(),
  widest: fc.constantFrom(16, 32, 64),
});

Deno.test("groupOperand() names by a descriptor the bytes where groupLayout() puts the elements", () => {
  fc.assert(fc.property(anyOperand, ({ rows, columns, inner, depthAxis, part, step, widest }) => {
    const shape = inner === 1 ? [rows, columns] : [columns, rows];
    const shared = groupLayout({ element: "float16", shape }, inner, widest);
    // The inner axis has at least the 16 elements of the narrowest swizzle, the other one its eight lines.
    assert(shared !== undefined);
    const depth = must(shape[depthAxis], "k");
    const across = must(shape[1 - depthAxis], "m or n");
    if (depth < 16) return;
    const size = Math.min(64, across);
    const operand = groupOperand({ element: "float16", shape, shared }, depthAxis);
    const [a0, k0] = [size * (part % (across / size)), 16 * (step % (depth / 16))];
    const start = 4096;
    const descriptor = operand.descriptor + BigInt((start + operand.offset(a0, k0)) >> 4);
    const low = Number(descriptor & 0xffffffffn);
    const matrix = readDescriptor(
      low,
      Number(descriptor >> 32n),
      operand.isTransposed ? "mn" : "k",
    );
    assertEquals(operand.isTransposed, inner !== depthAxis);
    const space = spaceOf(shared.columns);
    for (let a = 0; a < size; a += 3) {
      for (let k = 0; k < 16; k++) {
        const at = depthAxis === 1 ? [a0 + a, k0 + k] : [k0 + k, a0 + a];
        const index = must(at[0], "row") * must(shape[1], "columns") + must(at[1], "column");
        const byte = start + 2 * must(solve(space, index), "offset");
        const [line, along] = operand.isTransposed ? [k, a] : [a, k];
        const chunk = chunkAddress(matrix, line, along >> 3);
        assertEquals(chunk + 2 * (along & 7), byte, `element ${at}`);
      }
    }
  }));
});
