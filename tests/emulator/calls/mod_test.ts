import { assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";
import { kernelText } from "../../support/emulate.ts";
import { setPrinter } from "../../../emulator/calls/mod.ts";
import { formatText } from "../../../emulator/calls/format.ts";
import { Fault } from "../../../emulator/fault.ts";
import { createEmulator } from "../../../emulator/launch.ts";

function format(text: string, ...values: readonly (number | bigint | string)[]): string {
  const left = [...values];
  return formatText(text, {
    integer: (bytes) => BigInt.asUintN(8 * bytes, BigInt(left.shift() ?? 0)),
    double: () => Number(left.shift()),
    text: () => String(left.shift()),
    refuse: (detail) => {
      throw new RangeError(detail);
    },
  });
}

Deno.test("formatText() converts as printf does", () => {
  // Expected texts are those of glibc 2.36.
  const cases: readonly (readonly [string, string, ...(number | bigint | string)[]])[] = [
    ["[   42|42   |00042|+42]", "[%5d|%-5d|%05d|%+d]", 42, 42, 42, 42],
    ["[-7|  -07|4294967289]", "[%d|%5.2d|%u]", -7, -7, -7],
    ["[ff|FF|0xff|0|0377]", "[%x|%X|%#x|%#x|%#o]", 255, 255, 255, 0, 255],
    ["[18446744073709551615|-1|ffffffffffffffff]", "[%llu|%ld|%lx]", -1n, -1n, -1n],
    ["[3.141593|3.14|  3.1|0003.1|3]", "[%f|%.2f|%5.1f|%06.1f|%.0f]", ...Array(5).fill(Math.PI)],
    ["[1.500000e+10|2.5E-07]", "[%e|%.1E]", 1.5e10, 2.5e-7],
    [
      "[0.0001|1e-05|123457|1.23457e+06|0.5]",
      "[%g|%g|%g|%g|%g]",
      1e-4,
      1e-5,
      123456.7,
      1234567,
      0.5,
    ],
    ["[inf|-inf|nan|  INF]", "[%f|%f|%f|%5F]", Infinity, -Infinity, NaN, Infinity],
    ["[0x1.8p+1|-0.000000]", "[%a|%f]", 3, -0],
    ["[a|  bc|bc  |b]%", "[%c|%4s|%-4s|%.1s]%%", 97, "bc", "bc", "bc"],
    ["[  7|7  ]", "[%*d|%*d]", 3, 7, -3, 7],
    ["[44|300]", "[%hhd|%hd]", 300, 300],
    ["[1000000000000000000000.0|10000000000000000000000]", "[%.1f|%.0f]", 1e21, 1e22],
    ["[text|1.500000]", "[%.*s|%.*f]", -1, "text", -1, 1.5],
  ];
  for (const [expected, text, ...values] of cases) assertEquals(format(text, ...values), expected);
});

Deno.test("formatText() refuses fields that no terminal has", () => {
  assertEquals(format("%65536d", 1).length, 65536);
  for (
    const [text, ...values] of [
      ["%1000000000d", 1],
      ["%*d", -(2 ** 31), 1],
      ["%99999999999999999999x", 1],
      ["%.65537d", 1],
      ["%.101f", 1],
      ["%.*e", 1000, 1],
    ] as const
  ) {
    assertThrows(() => format(text, ...values), RangeError, text);
  }
});

const bytes = (text: string): string => [...new TextEncoder().encode(`${text}\0`)].join(", ");

Deno.test("CALLS prints what each lane says, and stops at failed assertions", () => {
  const emulator = createEmulator();
  let printed = "";
  setPrinter(emulator.machine, (text) => printed += text);
  const string = (name: string, text: string): string =>
    `.global .align 1 .b8 ${name}[${text.length + 1}] = {${bytes(text)}};`;
  const module = emulator.load(
    kernelText(
      `
  .local .align 8 .b8 depot[16]; .reg .b32 %r<8>; .reg .b64 %rd<16>; .reg .f64 %fd<2>; .reg .pred %p<2>;
  mov.u64 %rd0, depot; cvta.local.u64 %rd1, %rd0; mov.u32 %r1, %tid.x;
  st.local.u32 [%rd0], %r1; cvt.rn.f64.u32 %fd0, %r1; mul.f64 %fd0, %fd0, 0d3FE0000000000000; st.local.f64 [%rd0+8], %fd0;
  mov.u64 %rd2, text; cvta.global.u64 %rd3, %rd2;
  setp.gt.u32 %p0, %r1, 2; @%p0 bra OUT;
  { .param .b64 a; .param .b64 b; .param .b32 c;
  st.param.b64 [a], %rd3; st.param.b64 [b], %rd1; call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }
  setp.ne.u32 %p1, %r2, 8; @%p1 trap;
OUT: ld.param.u32 %r4, [p0]; setp.ne.u32 %p1, %r1, %r4; @%p1 bra END;
  mov.u64 %rd4, said; cvta.global.u64 %rd5, %rd4; mov.u64 %rd6, file; cvta.global.u64 %rd7, %rd6;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
  st.param.b64 [a], %rd5; st.param.b64 [b], %rd7; st.param.b32 [c], 17; st.param.b64 [d], %rd3; st.param.b64 [e], 1;
  call.uni __assertfail, (a, b, c, d, e); }
END: ret;`,
      {
        params: ["u32"],
        head: `.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
${string("text", "%d: %.2f\n")} ${string("said", "x < 3")} ${string("file", "k.tc")}`,
      },
    ),
    "test",
  );
  const run = (failing: number): void => {
    module.kernels.get("k")?.launch({
      grid: [1, 1, 1],
      block: [8, 1, 1],
      sharedBytes: 0,
      argumentBlock: new Uint8Array(new Uint32Array([failing]).buffer),
      checks: true,
      profile: false,
      budget: 1e6,
      workers: 1,
    });
  };
  run(99);
  assertEquals(printed, "0: 0.00\n1: 0.50\n2: 1.00\n");
  const fault = assertThrows(() => run(5), Fault);
  assertEquals([fault.kind, fault.lane], ["failed assertion", 5]);
  assertStringIncludes(fault.detail, "k.tc:17: %d: %.2f\n: assertion `x < 3` failed");
});
