import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { must } from "../../../compiler/support/bug.ts";
import { narrowestAccesses } from "../../../emulator/compile/granules.ts";
import { assertEquals } from "../../support/assert.ts";
import { kernelText } from "../../support/emulate.ts";

/** Bytes for shared and global memory of a kernel with these instructions. */
function granules(body: string): readonly [shared: number, global: number] {
  const head = ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b16 %h<8>;";
  const module = parsePtx(kernelText(`${head}\n${body}\nret;`));
  const { shared, global } = narrowestAccesses(must(module.kernels[0], "kernel"));
  return [shared, global];
}

Deno.test("narrowestAccesses() counts vectors as a whole, as they are aligned", () => {
  assertEquals(granules("st.global.v4.b32 [%rd0], {%r0, %r1, %r2, %r3};"), [16, 16]);
  assertEquals(
    granules("ld.global.v2.b32 {%r0, %r1}, [%rd0]; st.shared.v4.u32 [%r0], {%r0, %r1, %r2, %r3};"),
    [16, 8],
  );
  assertEquals(granules("ld.shared.v2.u8 {%h0, %h1}, [%r0];"), [2, 16]);
  assertEquals(granules("ld.global.b64 %rd1, [%rd0]; red.global.add.u32 [%rd0], %r0;"), [16, 4]);
});

Deno.test("narrowestAccesses() takes generic accesses for both, and parameters for neither", () => {
  assertEquals(granules("ld.b16 %h0, [%rd0];"), [2, 2]);
  assertEquals(granules("ld.param.b64 %rd0, [p0];"), [16, 16]);
});
