/** Explanations of E9xxx and W9xxx: pragmas, contracts, settings. */
import { type Explanation, file, settings } from "./example.ts";

export const PRAGMAS = {
  E9002: file(
    "Wrappers check calls against the contract, so the compiler compares pragmas with the code. The message shows both; one of the two is wrong. A grid that differs by one element is usually a mask with `<=` instead of `<`.",
    "#pragma tri grid(cdiv(N, 32))\n__global__ void f(float *X, int N) {\n  int r[16] = get_program_id(0) * 16 + 0 ... 16;\n  *?(r < N) (X + r) = 0;\n}",
    "#pragma tri grid(cdiv(N, 16))\n__global__ void f(float *X, int N) {\n  int r[16] = get_program_id(0) * 16 + 0 ... 16;\n  *?(r < N) (X + r) = 0;\n}",
  ),
  E9003: file(
    "Pragmas define the instances, so they cannot depend on a parameter of an instance. Write them at file scope, outside such an `#if`.",
    "#pragma tri config T=16\n#if T == 16\n#pragma tri num_warps=2\n#endif\n__global__ void f(int *X) { *X = T; }",
    "#pragma tri config T=16; num_warps=2\n__global__ void f(int *X) { *X = T; }",
  ),
  E9005: file(
    "The word after `#pragma tri` is unknown.",
    "#pragma tri gird(1)\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri grid(1)\n__global__ void f(int *X) { *X = 1; }",
  ),
  E9006: file(
    "`kernel NAME` selects a kernel of this file, and there is none with that name; or no kernel follows the pragma.",
    "#pragma tri kernel g\n#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri kernel f\n#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
  ),
  E9010: file(
    "The caller selects variants, the tuner selects configurations. A name is declared in one of the two, once, and a line gives an option one value: `config TM=64; num_warps=4`.",
    "#pragma tri variants T in {16, 32}\n#pragma tri config T=16\n__global__ void f(int *X) { *X = T; }",
    "#pragma tri variants T in {16, 32}\n__global__ void f(int *X) { *X = T; }",
  ),
  E9012: file(
    "`key` lists parameters of the kernel, integers and `bool`, whose values are known at the call.",
    "#pragma tri key(M)\n__global__ void f(int *X, int N) { *X = N; }",
    "#pragma tri key(N)\n__global__ void f(int *X, int N) { *X = N; }",
  ),
  E9013: file(
    "Expressions of pragmas use integer parameters of the kernel, compile-time parameters, and `cdiv`, `min`, `max`, `next_pow2`.",
    "#pragma tri grid(ceil(N, 16))\n__global__ void f(int *X, int N) { *X = N; }",
    "#pragma tri grid(cdiv(N, 16))\n__global__ void f(int *X, int N) { *X = N; }",
  ),
  E9014: file(
    "The message lists the values that the option takes: `num_warps` is a power of two up to 32, `num_stages` is 1 to 8.",
    "#pragma tri num_warps=3\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri num_warps=4\n__global__ void f(int *X) { *X = 1; }",
  ),
  E9015: file(
    "Each variant has a configuration on every target of the build. Add one whose filter lets the named targets through, or select targets with `--arch`.",
    "#pragma tri configs N in {128} if __TRI_ARCH__ >= 900\n__global__ void f(int *X) { *X = N; }",
    "#pragma tri configs N in {128} if __TRI_ARCH__ >= 900\n#pragma tri config N=64\n__global__ void f(int *X) { *X = N; }",
  ),
  E9020: settings(
    'The key "tri" of deno.json or package.json holds "files"; a file has "defines" and "kernels". docs/reference/settings.md lists all keys.',
    '{ "tri": { "file": {} } }',
    '{ "tri": { "files": {} } }',
  ),
  E9030: file(
    "Lines of `variants` multiply, and each combination is compiled for each specialisation. The limit is 4096 instances of all kernels of a file. Filters of `configs` are evaluated for at most 50,000 configurations. Remove what no caller needs, or split the file.",
    "#pragma tri variants A in {1, 2, 3, 4, 5, 6, 7, 8, 9}, B in {1, 2, 3, 4, 5, 6, 7, 8, 9}, C in {1, 2, 3, 4, 5, 6, 7, 8, 9}, D in {1, 2, 3, 4, 5, 6, 7, 8, 9}\n__global__ void f(int *X) { *X = A + B + C + D; }",
    "#pragma tri variants A in {1, 2, 3, 4, 5, 6, 7, 8, 9}\n__global__ void f(int *X, int b, int c, int d) { *X = A + b + c + d; }",
  ),
  E9031: {
    text:
      "The compiler counts the work of all instances of a file: 1 for each token that is preprocessed and parsed (once for each combination of macro values that the text depends on), 500 for each instance and specialisation, 4 for each value of the intermediate representation, and 5 for each instruction for the first target. The limit is 3,000,000. Reduce the variants, configurations and specialisations of a long file, or split it.",
  },
  E9040: {
    text:
      "The wrapper has the name of the `.tc` file, and a program imports it by that name. In an import, runtimes, compilers and bundlers treat `%`, `#`, `?` and `\\` differently, and remove control characters. Rename the file or the folder.",
  },
  E9041: {
    text:
      "Wrappers have one list of parameters for all variants of a kernel, at most 23 parameters whose types vary independently, and `gridX`, `gridY` and `gridZ` for the launch grid. The message names the violated limit.",
  },
  W9001: file(
    "Two sources give different values. The command line overrides deno.json, and deno.json overrides pragmas. The message names the source that wins.",
    "#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
    "__global__ void f(int *X) { *X = 1; }",
    { options: "--num-warps 4" },
  ),
  W9004: file(
    "Kernel pragmas are read in the main file, and in files that it names by `#pragma tri include`. The pragma is ignored.",
    '#include "other.h"\n__global__ void f(int *X) { *X = 1; }',
    '#include "plain.h"\n#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }',
    { files: { "other.h": "#pragma tri num_warps=2\n", "plain.h": "#define ONE 1\n" } },
  ),
  W9011: file(
    "The kernel does not use this parameter, so its values produce identical copies of the code.",
    "#pragma tri config T=16, S=2\n__global__ void f(int *X) { *X = T; }",
    "#pragma tri config T=16\n__global__ void f(int *X) { *X = T; }",
  ),
  W9015: file(
    "The hint cannot be applied to this loop: the number of iterations is not constant, or there would be more than 1024 copies. `flatten` is always ignored.",
    "__global__ void f(int *X, int n) {\n#pragma unroll\n  for (int i = 0; i < n; i++) *(X + i) = i;\n}",
    "__global__ void f(int *X, int n) {\n#pragma unroll 4\n  for (int i = 0; i < n; i++) *(X + i) = i;\n}",
  ),
  W9016: file(
    "The index overflows 32 bits for all arguments, so the access goes to a wrong address. Compute it as `long`.",
    "__global__ void f(float *X, float *Y) {\n  int r[65536] = 0 ... 65536;\n  *(Y + r) = *(X + r * 65536);\n}",
    "__global__ void f(float *X, float *Y) {\n  int r[65536] = 0 ... 65536;\n  *(Y + r) = *(X + (long[65536]) r * 65536);\n}",
  ),
  W9017: file(
    "The modes `tf32x3` and `bf16x3` are computed as `ieee`, with fused multiply-add, which is more accurate and slower. The attribute `contiguous` says that a tensor has row-major strides, which is the default; beside `strides` it is ignored. Remove the word, or choose the mode `tf32`.",
    "#pragma tri dot(tf32x3)\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri dot(tf32)\n__global__ void f(int *X) { *X = 1; }",
  ),
} satisfies Record<string, Explanation>;
