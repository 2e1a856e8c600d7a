/** Structures as nvcc copies them: padding that nothing has set may go to global memory, members may not. */
import { Fault } from "../../../emulator/fault.ts";
import { assertEquals } from "../../support/assert.ts";
import { emulate, kernelText } from "../../support/emulate.ts";
import { readRecorded } from "../../support/recorded.ts";

for (const build of ["padding", "padding_debug"]) {
  const text = readRecorded(new URL(`../../corpus/ptx/${build}.ptx`, import.meta.url));
  for (const [, kernel = "", what] of text.matchAll(/\.entry ((\w+?)_\w+)/g)) {
    const says = what === "unset" ? "finds the structure that is missing" : "has no finding";
    Deno.test(`${kernel}() of ${build}.ptx ${says}`, () => {
      assertEquals(finding(text, kernel), what === "unset" ? ["uninitialised memory", 26] : []);
    });
  }
}

function finding(text: string, kernel: string): unknown[] {
  const x = Int32Array.from({ length: 32 }, (_, i) => i);
  try {
    emulate(text, { args: [new Uint8Array(1024), x], kernel });
  } catch (error) {
    if (error instanceof Fault) return [error.kind, error.lane];
    throw error;
  }
  return [];
}

/** A copy of two words, of which the kernel may write the second one elsewhere. */
function copies(store: string): string {
  return kernelText(
    `.shared .align 8 .b8 tile[512]; .reg .b32 %t, %s, %r<4>; .reg .b64 %x; .reg .pred %p;
    mov.u32 %t, %tid.x; mov.u32 %s, tile; mad.lo.u32 %s, %t, 8, %s; ld.param.u64 %x, [p0];
    mad.wide.u32 %x, %t, 8, %x; setp.lt.u32 %p, %t, 8; st.shared.u32 [%s], %t; ${store}
    ld.shared.u32 %r1, [%s]; ld.shared.u32 %r2, [%s+4];
    st.global.u32 [%x+4], %r2; st.global.u32 [%x], %r1; ret;`,
    { params: ["u64", "u64"] },
  );
}

Deno.test("copiedBeside: what the kernel writes on another path is a member, and no padding", () => {
  assertEquals(finding(copies(""), "k"), []);
  assertEquals(finding(copies("@%p st.shared.u32 [%s+4], %t;"), "k"), ["uninitialised memory", 8]);
  assertEquals(finding(copies("@%p st.shared.u16 [%s+6], 1;"), "k"), ["uninitialised memory", 8]);
});
