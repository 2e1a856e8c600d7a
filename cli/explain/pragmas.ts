/** Explanations of E9xxx and W9xxx: pragmas, contracts, settings. */
import { type Explanation, file, settings } from "./example.ts";

export const PRAGMAS = {
  E9002: file(
    "What a pragma says and what the kernel does are compared, because wrappers check calls by it. The message shows both; one of the two is wrong. A grid that differs by one element is usually a mask with `<=` in place of `<`.",
    "#pragma tri grid(cdiv(N, 32))\n__global__ void f(float *X, int N) {\n  int r[16] = get_program_id(0) * 16 + 0 ... 16;\n  *?(r < N) (X + r) = 0;\n}",
    "#pragma tri grid(cdiv(N, 16))\n__global__ void f(float *X, int N) {\n  int r[16] = get_program_id(0) * 16 + 0 ... 16;\n  *?(r < N) (X + r) = 0;\n}",
  ),
  E9003: file(
    "Pragmas say which instances there are, so they cannot depend on a parameter of one. They stand at file scope, outside such `#if`.",
    "#pragma tri config T=16\n#if T == 16\n#pragma tri num_warps=2\n#endif\n__global__ void f(int *X) { *X = T; }",
    "#pragma tri config T=16; num_warps=2\n__global__ void f(int *X) { *X = T; }",
  ),
  E9005: file(
    "The word behind `#pragma tri` is none that tri knows.",
    "#pragma tri gird(1)\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri grid(1)\n__global__ void f(int *X) { *X = 1; }",
  ),
  E9006: file(
    "`kernel NAME` directs pragmas to a kernel of this file, and there is none of that name; or no kernel follows them.",
    "#pragma tri kernel g\n#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri kernel f\n#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
  ),
  E9010: file(
    "The caller chooses variants, the tuner configurations. A name belongs to one of the two, and once.",
    "#pragma tri variants T in {16, 32}\n#pragma tri config T=16\n__global__ void f(int *X) { *X = T; }",
    "#pragma tri variants T in {16, 32}\n__global__ void f(int *X) { *X = T; }",
  ),
  E9012: file(
    "`key` lists parameters of the kernel, whose values are known at the call.",
    "#pragma tri key(M)\n__global__ void f(int *X, int N) { *X = N; }",
    "#pragma tri key(N)\n__global__ void f(int *X, int N) { *X = N; }",
  ),
  E9013: file(
    "Expressions of pragmas know integer parameters of the kernel, parameters of compilation, and `cdiv`, `min`, `max`, `next_pow2`.",
    "#pragma tri grid(ceil(N, 16))\n__global__ void f(int *X, int N) { *X = N; }",
    "#pragma tri grid(cdiv(N, 16))\n__global__ void f(int *X, int N) { *X = N; }",
  ),
  E9014: file(
    "The message says which values the option takes: warps are a power of two up to 32, stages 1 to 8.",
    "#pragma tri num_warps=3\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri num_warps=4\n__global__ void f(int *X) { *X = 1; }",
  ),
  E9020: settings(
    'The key "tri" of deno.json holds "files"; a file has "defines" and "kernels". docs/reference/settings.md lists all keys.',
    '{ "tri": { "file": {} } }',
    '{ "tri": { "files": {} } }',
  ),
  E9030: file(
    "Lines of `variants` multiply, and each combination is compiled for each specialisation: at most 4096 instances of all kernels of a file. Filters of `configs` are asked about at most 50,000 configurations. Leave out what no caller needs, or split the file.",
    "#pragma tri variants A in {1, 2, 3, 4, 5, 6, 7, 8, 9}, B in {1, 2, 3, 4, 5, 6, 7, 8, 9}, C in {1, 2, 3, 4, 5, 6, 7, 8, 9}, D in {1, 2, 3, 4, 5, 6, 7, 8, 9}\n__global__ void f(int *X) { *X = A + B + C + D; }",
    "#pragma tri variants A in {1, 2, 3, 4, 5, 6, 7, 8, 9}\n__global__ void f(int *X, int b, int c, int d) { *X = A + b + c + d; }",
  ),
  E9031: {
    text:
      "The compiler counts the work that all instances of a file cause: 1 for each token that is preprocessed and parsed (once for each combination of macro values that the text depends on), 500 for each instance and specialisation, 4 for each value of the intermediate representation, and 5 for each instruction for the first target. A file may cause 3,000,000. Give a long file fewer variants, configurations and specialisations, or split it.",
  },
  E9040: {
    text:
      "The wrapper is named like the `.tc` file, and a program imports it by that name. In an import, `%`, `#`, `?` and `\\` have a meaning of their own, which differs between runtimes, compilers and bundlers; control characters are removed. Rename the file or the folder.",
  },
  E9041: {
    text:
      "Wrappers have one list of parameters for all variants of a kernel, at most 23 parameters whose types vary independently, and `gridX`, `gridY` and `gridZ` for the launch grid. The message says which of these the kernel breaks.",
  },
  W9001: file(
    "Two sources set the same thing differently: command line before deno.json before pragmas. The message says which one counts.",
    "#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
    "__global__ void f(int *X) { *X = 1; }",
    { options: "--num-warps 4" },
  ),
  W9004: file(
    "Only the main file describes its kernels. The pragma is ignored.",
    '#include "other.h"\n__global__ void f(int *X) { *X = 1; }',
    '#include "plain.h"\n#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }',
    { files: { "other.h": "#pragma tri num_warps=2\n", "plain.h": "#define ONE 1\n" } },
  ),
  W9011: file(
    "The kernel never mentions this parameter, so its values only make copies of the same code.",
    "#pragma tri config T=16, S=2\n__global__ void f(int *X) { *X = T; }",
    "#pragma tri config T=16\n__global__ void f(int *X) { *X = T; }",
  ),
  W9015: file(
    "A hint was read, but this loop cannot follow it: the number of iterations is not constant, or there would be more than 1024 copies. `flatten` is never followed.",
    "__global__ void f(int *X, int n) {\n#pragma unroll\n  for (int i = 0; i < n; i++) *(X + i) = i;\n}",
    "__global__ void f(int *X, int n) {\n#pragma unroll 4\n  for (int i = 0; i < n; i++) *(X + i) = i;\n}",
  ),
  W9016: file(
    "The index does not fit in 32 bits whatever is passed, so the access goes elsewhere. Compute it as `long`.",
    "__global__ void f(float *X, float *Y) {\n  int r[65536] = 0 ... 65536;\n  *(Y + r) = *(X + r * 65536);\n}",
    "__global__ void f(float *X, float *Y) {\n  int r[65536] = 0 ... 65536;\n  *(Y + r) = *(X + (long[65536]) r * 65536);\n}",
  ),
} satisfies Record<string, Explanation>;
