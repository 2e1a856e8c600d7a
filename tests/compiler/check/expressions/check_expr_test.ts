import { assertEquals } from "../../../support/assert.ts";
import { codesIn, typed, typeOf } from "../../../support/compiler/check.ts";
import { testCodes, testTrees, testTypes } from "../../../support/compiler/check_tables.ts";

testTypes("gives numbers the types of section 2.2", {
  "1": "int",
  "2147483648": "long",
  "0x80000000": "unsigned int",
  "1u": "unsigned int",
  "1l": "long",
  "1ul": "unsigned long",
  "1.0": "float",
  "1.0f": "float",
  "1.0h": "half",
  "1.0bf": "bfloat16",
  "1.0l": "double",
  "'a'": "int",
  "true": "bool",
  "INFINITY": "float",
  "F16_INFINITY": "half",
  "F64_INFINITY": "double",
});

testTrees("lets weak literals take the floating type they meet", {
  "h * 0.1": "half: (h * half(0.0999755859375))",
  "d * 0.1": "double: (d * double(0.1))",
  "n * 0.5": "float: (convert<float>(n) * 0.5)",
  "d * -0.1": "double: (d * double(-0.1))",
  "1.0 / 3.0": "float: 0.3333333432674408",
  "(double) 0.1": "double: double(0.1)",
  "hx * 2.0": "half[16]: (hx * half[16](2.0))",
  "m ? hx : 0.1": "half[16]: select(m, hx, half[16](0.0999755859375))",
  "fma(d, 0.1, 0.2)": "double: fma(d, double(0.1), double(0.2))",
});

Deno.test("check() reads unsuffixed literals as double on request and warns about tiles", () => {
  const options = { literals: "double" } as const;
  assertEquals(typeOf("f * 0.5", options), "double");
  assertEquals(codesIn("x = x * 0.5;", options), ["W2015"]);
  assertEquals(codesIn("dx = dx * 0.5; f = f * 0.5;", options), []);
});

testTypes("applies the usual arithmetic conversions", {
  "b + b": "int",
  "'a' + u": "unsigned int",
  "n + l": "long",
  "u + l": "long",
  "(unsigned long) 1 + l": "unsigned long",
  "h + n": "half",
  "h + l": "half",
  "h + f": "float",
  "h + (bfloat16) f": "float",
  "(bfloat16) f + n": "bfloat16",
  "f + d": "double",
  "(float8e4) f + (float8e4) f": "float",
  "(float8e4) f + h": "float",
  "b & b": "int",
  "(char) 1 << l": "int",
  "u << l": "unsigned int",
  "l >> n": "long",
  "~b": "int",
  "-h": "half",
  "-(short) n": "int",
  "!f": "bool",
  "n < l": "bool",
  "x < 0": "bool[16]",
});

testTrees("makes conversions and stretches explicit", {
  "n + l": "long: (convert<long>(n) + l)",
  "t + f": "float[16, 32]: (convert<float[16, 32]>(t) + broadcast<float[16, 32]>(f))",
  "z + y": "float[16, 32]: (z + broadcast<float[16, 32]>(y))",
  "x + y[:, newaxis]":
    "float[32, 16]: (broadcast<float[32, 16]>(x) + broadcast<float[32, 16]>(reshape<float[32, 1]>(y)))",
  "y[:, newaxis, newaxis] + x":
    "float[32, 1, 16]: (broadcast<float[32, 1, 16]>(reshape<float[32, 1, 1]>(y)) + broadcast<float[32, 1, 16]>(x))",
  "P + r": "float*[16]: (broadcast<float*[16]>(P) + r)",
  "n + p": "float*[16]: (p + broadcast<int[16]>(n))",
  "P - u": "float*: (P + -convert<long>(u))",
  "p - P": "long[16]: (p - broadcast<float*[16]>(P))",
  "!x": "bool[16]: ~convert<bool[16]>(x)",
  "!(n == 0)": "bool: ~(n == 0)",
  "p == 0": "bool[16]: (p == float*[16](0))",
  "NULL != P": "bool: (float*(0) != P)",
  "V == P": "bool: (V == convert<void*>(P))",
});

testCodes("refuses operands that an operator does not take", {
  "P * 2;": "E5020",
  "f / P;": "E5020",
  "-P;": "E5020",
  "f % 2;": "E5021",
  "2 - P;": "E5022",
  "P + f;": "E5022",
  "P + P;": "E5022",
  "P - I;": "E5023",
  "f & 1;": "E5024",
  "~f;": "E5024",
  "f << 1;": "E5024",
  "P < I;": "E5025",
  "P == 1;": "E5025",
  "x + y;": "E5010",
  "V + 1;": "E3011",
  "*V;": "E3011",
  "*n;": "E5140",
  "*?(m) *p;": "E5140",
});

testCodes("warns about comparisons of mixed signedness", {
  "b = n < u;": "W5026",
  "b = 3 < u;": "",
  "b = -3 < u;": "W5026",
  "b = l < u;": "",
  "b = 'a' < u;": "",
});

testTrees("folds constants with the results of run time", {
  "2147483647 + 0": "int: 2147483647",
  "7 / -2": "int: -3",
  "7 % -2": "int: 1",
  "-1 >> 1": "int: -1",
  "0xffffffff >> 1": "unsigned int: unsigned int(2147483647)",
  "1 << 40": "int: 0",
  "1u - 2u": "unsigned int: unsigned int(4294967295)",
  "(char) 300": "char: char(44)",
  "(int) 1e30f": "int: 2147483647",
  "(bool) 0.5": "bool: true",
  "0.1f + 0.2f": "float: 0.30000001192092896",
  "(half) 65520.0f": "half: half(Infinity)",
  "0.1h * 3.0h": "half: half(0.2998046875)",
  "16777217 * 1.0f": "float: 16777216.0",
  "bitcast<float>(0x7F800000)": "float: Infinity",
  "bitcast<int>(1.0f)": "int: 1065353216",
  "min(3, 4u)": "unsigned int: unsigned int(3)",
  "max(NAN, 2.0f)": "float: 2.0",
  "abs(-3)": "int: 3",
  "cdiv(17, 16)": "int: 2",
  "next_pow2(17)": "int: 32",
  "ilog2(17)": "int: 4",
  "sizeof(acc_t)": "unsigned long: unsigned long(2048)",
  "sizeof z": "unsigned long: unsigned long(2048)",
  "_Alignof(double)": "unsigned long: unsigned long(8)",
  "1 ? 2 : n": "int: 2",
  "0 && n": "bool: false",
  "1 || 1 / 0": "bool: true",
  "THREE + FOUR": "int: 7",
  "EIGHT * 2": "int: 16",
  "0.0 * -1": "float: -0.0",
  "-(-2147483647 - 1l)": "long: long(2147483648)",
});

testCodes("reports what goes wrong in a constant", {
  "n = 2147483647 + 1;": "W5170",
  "n = -(-2147483647 - 1);": "W5170",
  "n = 1 / 0;": "E5171",
  "n = 1 % 0;": "E5171",
  "n = 0 ? 1 / 0 : 2;": "",
  "n = sizeof(1 / 0);": "",
  "f = 1.0 / 0;": "",
  "f = 1e300;": "E2013",
  "d = 1e300;": "",
});

testTypes("builds ranges of int, or of a wider bound", {
  "0 ... 16": "int[16]",
  "0u ... 16": "unsigned int[16]",
  "0 ... 16l": "long[16]",
  "(M ... (2 * M)) == 0": "bool[16]",
  "n * 16 + 0 ... 16": "int[16]",
  "arange(16, 32)": "int[16]",
});

testCodes("refuses ranges of unknown, negative or odd length", {
  "n ... 16;": "E5103",
  "0 ... n;": "E5103",
  "0 ... 1.0;": "E5103",
  "0....16;": "E5103",
  "16 ... 0;": "E5104",
  "0 ... 0;": "E5104",
  "0 ... 17;": "E3021",
});

testTrees("subscripts tiles", {
  "x[:, newaxis]": "float[16, 1]: reshape<float[16, 1]>(x)",
  "z[:, newaxis, :]": "float[16, 1, 32]: reshape<float[16, 1, 32]>(z)",
  "z[:, +]": "float[16]: reduce_add(z, axis 1)",
  "z[max, :]": "float[32]: reduce_max(z, axis 0)",
  "z[+, +]": "float: reduce_add(reduce_add(z, axis 0), axis 0)",
  "z[max, +]": "float: reduce_add(reduce_max(z, axis 0), axis 0)",
  "z[+, newaxis, :]": "float[1, 32]: reshape<float[1, 32]>(reduce_add(z, axis 0))",
  "hz[+, +]":
    "half: convert<half>(reduce_add(reduce_add(convert<float[16, 32]>(hz), axis 0), axis 0))",
  "hz[max, :]": "half[32]: reduce_max(hz, axis 0)",
  "hz[+, max]":
    "half: reduce_max(convert<half[32]>(reduce_add(convert<float[16, 32]>(hz), axis 0)), axis 0)",
  "m[+]": "int: reduce_add(convert<int[16]>(m), axis 0)",
  "m[any]": "bool: reduce_or(m, axis 0)",
  "x[all]": "bool: reduce_and(convert<bool[16]>(x), axis 0)",
  "r[xor]": "int: reduce_xor(r, axis 0)",
  "x[argmax]": "int: reduce_argmax(x, axis 0)",
  "(mz ? z : 0)[:, +]": "float[16]: reduce_add(select(mz, z, float[16, 32](0.0)), axis 1)",
  "z[^1, ^0]": "float[32, 16]: permute<1, 0>(z)",
  "c[^2, ^0, ^1]": "float[16, 4, 8]: permute<2, 0, 1>(c)",
  "z[^0, ^1]": "float[16, 32]: z",
  "P[n]": "float: *(P + n)",
  "P[r]": "float[16]: *(broadcast<float*[16]>(P) + r)",
  "PP[0][1]": "float: *(*(PP + 0) + 1)",
});

testCodes("refuses subscripts that are no axes", {
  "n[:];": "E5110",
  "P[:, newaxis];": "E5110",
  "z[:];": "E5111",
  "x[:, :];": "E5111",
  "z[^0, ^0];": "E5112",
  "z[^1, :];": "E5112",
  "z[^n, ^0];": "E5112",
  "z[0, :];": "E5113",
  "x[n];": "E5113",
  "x[-];": "E5114",
  "x[foo];": "E5115",
  "p[+];": "E5116",
  "x[xor];": "E5024",
});

testTrees("multiplies matrices", {
  "z @ w": "float[16, 16]: (z @ w)",
  "hz @ ^hz": "float[16, 16]: (hz @ permute<1, 0>(hz))",
  "(char[16, 32]) 1 @ (unsigned char[32, 16]) 1":
    "int[16, 16]: (char[16, 32](1) @ unsigned char[32, 16](1))",
  "(float8e4) z @ (float8e5) w":
    "float[16, 16]: (convert<float8e4[16, 32]>(z) @ convert<float8e5[32, 16]>(w))",
  "zeros(float[4, 8, 2]) @ zeros(float[8, 16, 2])":
    "float[4, 16, 2]: (float[4, 8, 2](0.0) @ float[8, 16, 2](0.0))",
  "x[:, newaxis] @ y[newaxis, :]":
    "float[16, 32]: (reshape<float[16, 1]>(x) @ reshape<float[1, 32]>(y))",
  'dot(z, w, 1, "tf32")': "float[16, 16]: (float[16, 16](1.0) + (z @ tf32 w))",
});

Deno.test("check() multiplies floats the way that is asked for", () => {
  assertEquals(typed("z @ w", { dot: "tf32" }), "float[16, 16]: (z @ tf32 w)");
  assertEquals(typed("hz @ ^hz", { dot: "tf32" }), "float[16, 16]: (hz @ permute<1, 0>(hz))");
});

testCodes("refuses products whose operands do not fit", {
  "x @ y;": "E5120",
  "z @ 2;": "E5120",
  "z @ z;": "E5121",
  "zeros(float[4, 8, 2]) @ zeros(float[8, 16, 4]);": "E5122",
  "hz @ w;": "E5123",
  "t @ ^t;": "E5124",
  'dot(z, w, "fast");': "E7007",
});

testTrees("transposes", {
  "^z": "float[32, 16]: permute<1, 0>(z)",
  "^c": "float[8, 16, 4]: permute<1, 2, 0>(c)",
  "^pz": "float*[32, 16]: permute<1, 0>(pz)",
});

testCodes("says what a transposition does not change", {
  "x = ^x;": "W5131",
  "f = ^f;": "E5130",
});

testTrees("loads under masks", {
  "*P": "float: *P",
  "*p": "float[16]: *p",
  "*?(m) p": "float[16]: *?(m) p",
  "*?(r) p": "float[16]: *?(convert<bool[16]>(r)) p",
  "*?(b) p": "float[16]: *?(broadcast<bool[16]>(b)) p",
  "*?(m) P": "float[16]: *?(m) broadcast<float*[16]>(P)",
  "*?(1) p": "float[16]: *p",
  "*?(m) p + 1": "float[16]: (*?(m) p + float[16](1.0))",
  "*(*?(m) (PP + r))": "float[16]: **?(m) (broadcast<float**[16]>(PP) + r)",
  'load(p, m, 1, "nc", "evict_first")': 'float[16]: *?(m) p else float[16](1.0) "nc" "evict_first"',
  "&*P": "float*: P",
  "&P[3]": "float*: (P + 3)",
});

testTrees("casts", {
  "(float) n": "float: convert<float>(n)",
  "(float[16]) n": "float[16]: broadcast<float[16]>(convert<float>(n))",
  "(double) x": "double[16]: convert<double[16]>(x)",
  "(float[16, 32]) y": "float[16, 32]: broadcast<float[16, 32]>(y)",
  "(int[512]) z": "int[512]: reshape<int[512]>(convert<int[16, 32]>(z))",
  "(float[16]) x[:, newaxis]": "float[16]: reshape<float[16]>(reshape<float[16, 1]>(x))",
  "(int*) P": "int*: convert<int*>(P)",
  "(long) P": "long: convert<long>(P)",
  "(float*) 0": "float*: float*(0)",
  "(float*) l": "float*: convert<float*>(l)",
  "(bool) P": "bool: convert<bool>(P)",
  "(float[16]) -INFINITY": "float[16]: float[16](-Infinity)",
  "bitcast<unsigned>(x)": "unsigned int[16]: bitcast<unsigned int[16]>(x)",
  "(char) 300 + 0": "int: 44",
});

testCodes("refuses casts between what has nothing in common", {
  "(float[16]) y;": "E5011",
  "(float[64]) z;": "E5160",
  "(float[16]) c;": "E5160",
  "(int) P;": "E5161",
  "(float) P;": "E5161",
  "(float*) n;": "E5161",
  "(void) n;": "E5161",
  "bitcast<long>(f);": "E5162",
  "bitcast<int[8]>(x);": "E5162",
  "(float*[16]) z;": "E5161",
});
