/** Sections 9 and 10: numbers and parameters. */
import { type Construct, section } from "./construct.ts";

export const NUMBERS: readonly Construct[] = [
  ...section(
    "9 Numbers",
    {
      name: "shift counts of the width and more",
      body:
        "I[0] = 1 << (n + 27); I[1] = 1 << (n + 26); I[2] = -8 >> (n + 40); I[3] = (int)(0x80000000u >> (n + 27)); I[4] = (n - 10) >> (n - 6); I[5] = 5 << (n - 6);",
      i: [0, -2147483648, -1, 0, -1, 0],
    },
    {
      name: "constant shift counts whose low 32 bits are a small number",
      body:
        "long m = n - 21; I[0] = (int)((long)n << (1l << 40)); I[1] = (int)(m >> (1l << 40)); I[2] = (int)(m >> -(1l << 40)); I[3] = (int)((unsigned long)n >> ((1l << 40) + 1));",
      i: [0, -1, -1, 0],
    },
    {
      name: "float8 saturates, half overflows",
      body:
        "Y[0] = (float8e4)(f * 1000.0f); Y[1] = (float8e5)(f * 1.0e6f); Y[2] = (half)(f * 1.0e6f); Y[3] = (float8e4)(f * -1000.0f); I[0] = isnan((float)(float8e4)(NAN * f));",
      i: [1],
      y: [448, 57344, Infinity, -448],
    },
    {
      name: "integers wrap; `INT_MIN / -1`",
      body:
        "int m = (int)0x80000000 + (n - 5); I[0] = m / (4 - n); I[1] = m % (4 - n); I[2] = m - 1; I[3] = -m;",
      i: [-2147483648, 0, 2147483647, -2147483648],
    },
    {
      name: "rounding of conversions, ties to even",
      body:
        "int big = 16777217 + (n - 5); Y[0] = big; half h = (half)(2049.0f + (float)(n - 5)); Y[1] = h;",
      y: [16777216, 2048],
    },
    {
      name: "subnormal numbers are kept",
      body: "Y[0] = 1.0e-30f * (f * 1.0e-10f) > 0.0f;",
      y: [1],
    },
    {
      name: "negative zero and infinities",
      body: "Y[0] = 1.0f / (0.0f * -f); Y[1] = max(-0.0f * f, 0.0f * f);",
      y: [-Infinity, 0],
    },
  ),
  ...section(
    "10 Parameters",
    {
      name: "facts of `require` and `specialize` change no value",
      body: "I[0] = n % 5; I[1] = n * 2;",
      head: "#pragma tri require(n % 5 == 0)\n#pragma tri noalias(all)",
      i: [0, 10],
    },
    {
      name: "64-bit arithmetic and indices",
      body: "long big = (long)n << 33; L[0] = big / 3 - 1; L[(long)n] = big;",
    },
  ),
];
