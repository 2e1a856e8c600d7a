import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { requiredVersion } from "../../../compiler/ptx/version.ts";
import { assertEquals } from "../../support/assert.ts";

function versionOf(statements: string, oldest = 60): number {
  const text =
    `.version 8.0\n.target sm_90\n.entry k() { .reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>; ${statements} ret; }`;
  return requiredVersion(parsePtx(text).kernels, oldest);
}

Deno.test("requiredVersion() is what the youngest instruction needs", () => {
  assertEquals(versionOf(""), 60);
  assertEquals(versionOf("bar.warp.sync -1; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;"), 60);
  assertEquals(versionOf("activemask.b32 %r1;"), 62);
  assertEquals(versionOf("cvt.rn.bf16.f32 %h1, %r1;"), 70);
  assertEquals(
    versionOf("ld.global.L1::no_allocate.b32 %r1, [%rd1]; cvt.rn.bf16.f32 %h1, %r1;"),
    74,
  );
  assertEquals(versionOf("mov.u32 %r1, %cluster_ctarank;"), 78);
  assertEquals(versionOf("cp.async.bulk.commit_group;"), 80);
});

Deno.test("requiredVersion() is at least the oldest that has the target", () => {
  assertEquals(versionOf("activemask.b32 %r1;", 78), 78);
  assertEquals(versionOf("", 0), 60);
});

Deno.test("requiredVersion() ignores unknown instructions, which the verifier reports", () => {
  assertEquals(versionOf("frobnicate.b32 %r1;"), 60);
});
