import { BUILTINS } from "../../../compiler/front/builtins.ts";
import { assertEquals } from "../../support/assert.ts";
import { checkText } from "../../support/check.ts";
import { testCodes, testTrees, testTypes } from "../../support/check_tables.ts";

testTypes("gives built-ins the result types of section 7", {
  "get_program_id(0)": "int",
  "num_programs(2)": "int",
  "min(n, l)": "long",
  "max(x, h)": "float[16]",
  "max(x)": "float",
  "exp(h)": "float",
  "exp(n)": "float",
  "exp(d)": "double",
  "expf(x)": "float[16]",
  "sqrtf(hx)": "float[16]",
  "floor(hx)": "half[16]",
  "fmod(h, 2.0)": "half",
  "isnan(x)": "bool[16]",
  "abs(h)": "half",
  "abs(b)": "int",
  "abs(u)": "unsigned int",
  "clamp(x, 0, 1)": "float[16]",
  "where(m, x, 0)": "float[16]",
  "minimum(h, 1)": "half",
  "mulhi(n, n)": "int",
  "umulhi(n, l)": "unsigned long",
  "popc(l)": "int",
  "brev(u)": "unsigned int",
  "cdiv(n, 16)": "int",
  "zeros(half[4, 4])": "half[4, 4]",
  "full(float[16], n)": "float[16]",
  "reshape(z, 32, 16)": "float[32, 16]",
  "permute(c, 2, 0, 1)": "float[16, 4, 8]",
  "trans(z)": "float[32, 16]",
  "broadcast_to(x, 32, 16)": "float[32, 16]",
  "expand_dims(x, 1)": "float[16, 1]",
  "flip(z, 1)": "float[16, 32]",
  "cat(z, z)": "float[32, 32]",
  "join(x, x)": "float[16, 2]",
  "interleave(x, x)": "float[32]",
  "split0(join(x, x))": "float[16]",
  "sum(z)": "float",
  "sum(z, 1)": "float[16]",
  "any(m)": "bool",
  "argmax(z)": "int",
  "argmin(z, 0)": "int[32]",
  "cumsum(z, 1)": "float[16, 32]",
  "sort(x)": "float[16]",
  "gather(x, r, 0)": "float[16]",
  "histogram(r, 32)": "int[32]",
  "dot(hz, ^hz, 0)": "float[16, 16]",
  "philox(l, r, 2)": "unsigned int[16]",
  "rand(7, r)": "float[16]",
  "multiple_of(p, 16)": "float*[16]",
  "atomic_add(p, x, m)": "float[16]",
  "atomic_cas(I, 0, 1)": "int",
  "atomic_xchg(I, 0)": "int",
  "load(P)": "float",
  "store(p, 1, m)": "float[16]",
});

testTrees("turns built-ins into operators where there is one", {
  "min(x, 0)": "float[16]: min(x, float[16](0.0))",
  "clamp(x, 0, 1)": "float[16]: min(max(x, float[16](0.0)), float[16](1.0))",
  "select(m, 1, 0)": "int[16]: select(m, int[16](1), int[16](0))",
  "cdiv(n, 16)": "int: ((n / 16) + convert<int>(((n % 16) != 0)))",
  "sum(hx)": "half: convert<half>(reduce_add(convert<float[16]>(hx), axis 0))",
  "argmax(z)": "int: reduce_argmax(reshape<float[512]>(z), axis 0)",
  "trans(z)": "float[32, 16]: permute<1, 0>(z)",
  "maximum(n, 2)": "int: max(n, 2)",
  "maximum(x, 2)": "float[16]: maximum(x, float[16](2.0))",
  "sqrtf(x)": "float[16]: sqrt(x)",
  "sort(z, 0, 1)": 'float[16, 32]: sort(z, "0", "down")',
  "atomic_add(p, 1)": "float[16]: atomic_add(p, float[16](1.0))",
  'atomic_add(I, n, b, "relaxed", "cta")': 'int: atomic_add(I, n, b, "relaxed", "cta")',
  "philox(7, r, 2)": 'unsigned int[16]: philox(unsigned long[16](7), r, "2")',
  "program_id(1)": "int: program_id(1)",
});

testCodes("checks the arguments of built-ins", {
  "exp();": "E7001",
  "exp(x, x);": "E7001",
  "permute(z);": "E5112",
  "exp(P);": "E7002",
  "floor(n);": "E7002",
  "popc(x);": "E7002",
  "min(P, P);": "E7002",
  "max(n);": "E7002",
  "sum(f);": "E7002",
  "zeros(n);": "E7002",
  "exp(float);": "E7002",
  "load(n);": "E7002",
  "load(V);": "E3011",
  "split0(x);": "E7002",
  "cat(x, y);": "E7002",
  "gather(z, r, 0);": "E7002",
  "histogram(x, 4);": "E7002",
  "get_program_id(3);": "E7003",
  "get_program_id(n);": "E7003",
  "next_pow2(n);": "E7003",
  "ilog2(0);": "E7003",
  "sum(z, 2);": "E7003",
  "philox(1, r, 4);": "E7003",
  "histogram(r, 3);": "E3021",
  "reshape(z, 3, 4);": "E3021",
  "reshape(z, 4, 4);": "E5160",
  "broadcast_to(x, 32);": "E5011",
  "max(x, y);": "E5010",
  'load(p, "fast");': "E7007",
  'load(p, "ca", "cg");': "E7007",
  'load(p, "cg", "evict_first");': "E7007",
  'load(p, "evict_first", "cs");': "E7007",
  'load(p, "nc", "evict_last");': "W6001",
  'load(VOL, "cs");': "E7007",
  'load(VOL, "volatile");': "",
  'store(VOL, f, "evict_first");': "E7007",
  'f = "text";': "E2016",
  "static_print(n);": "W7009",
  "store(C, 1);": "E5306",
  "store(p, y);": "E5011",
  "prefetch(p, m); threadfence(); __debug_barrier();": "",
});

testCodes("checks atomics, in the old spellings too", {
  "atomic_add(H, 1);": "",
  "atomic_add(B, 1);": "E7002",
  "atomic_min(P, 1.0);": "",
  "atomic_and(P, 1);": "E7002",
  "atomic_cas(H, 0, 1);": "E7002",
  "atomic_add(C, 1);": "E5306",
  "atomic_add(n, 1);": "E7002",
  "atomic_add(float, 1, 1)(P, f, b);": "",
  "atomic_add(float, 16, 32)(pz, z, mz);": "",
  "atomic_add(float, 16, 16)(pz, z, mz);": "E7004",
  "atomic_add(half, 1, 1)(P, f, b);": "E7002",
  "atomic_add_float_1x1(P, ((float[16]) r)[+], (bool) 1);": "",
  "atomic_add_float_16x32(pz, z, mz);": "",
  "atomic_add_float_16x32(P, f, b);": "E7004",
  "atomic_add_float_1x1(P);": "E7001",
  "f32_atomic_add(P, 1);": "",
  "f = f32_atomic_add(P, 1);": "E5302",
});

testCodes("checks debugging aids", {
  'printf("%d %f %p\\n", n, x, P);': "",
  'printf("%% done");': "",
  'printf("%d");': "E7001",
  'printf("%s", n);': "E7002",
  'printf("%d", l);': "E7002",
  'printf("%d", f);': "E7002",
  "printf(n);": "E7002",
  'assert(m, "in range"); assume(n > 0);': "",
  "assume(m);": "E5012",
  'static_print("n is", n);': "W7009",
  "static_print(nobody);": "E2001",
});

Deno.test("checkStaticPrint() shows constants by value and all else by type", () => {
  const { diagnostics } = checkText(
    '__global__ void k(half *P) { float x[4, 8] = 0; static_print("x", x, 3 * 4, P, 0.5f); }',
  );
  assertEquals(
    diagnostics.filter(({ code }) => code === "W7009").map(({ message }) => message),
    ["x float[4, 8] 12 half* 0.5"],
  );
});

Deno.test("BUILTINS names every function once, and synonyms share a canonical name", () => {
  assertEquals(BUILTINS.get("expf")?.canonical, "exp");
  assertEquals(BUILTINS.get("where")?.canonical, "select");
  assertEquals(BUILTINS.get("load")?.signature, "load(p[, mask][, other])");
  assertEquals(BUILTINS.get("printf")?.signature, "printf(format, values, …)");
  assertEquals(BUILTINS.get("min")?.least, 1);
  for (const { canonical } of BUILTINS.values()) {
    assertEquals(BUILTINS.get(canonical)?.canonical, canonical);
  }
});
