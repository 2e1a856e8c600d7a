/** Explanations of E1xxx and W1xxx: text, tokens, macros, included files. */
import { type Explanation, file, inside } from "./example.ts";

export const PREPROCESSOR = {
  E1001: {
    text: "Sources are UTF-8. Save the file as UTF-8; a leading byte-order mark is allowed.",
  },
  E1002: inside(
    "Many tools stop reading at a NUL and would see another program than the compiler. Delete it.",
    "*I = 1;\0",
    "*I = 1;",
  ),
  E1004: inside(
    "Everything from `/*` to `*/` is a comment. Comments do not nest: the first `*/` ends the comment.",
    "*I = 1; /* all of this is comment",
    "*I = 1; /* only this */",
  ),
  E1006: inside(
    "Outside comments and strings only the characters of C are allowed, and each quote is closed in the same line. Typographic quotes and dashes come from word processors.",
    "*I = n × 2;",
    "*I = n * 2;",
  ),
  E1010: file(
    "Directives are those of C: define, undef, include, if, ifdef, ifndef, elif, else, endif, error, warning, pragma, line.",
    "#defien SIZE 16\n__global__ void f(int *X) { *X = 16; }",
    "#define SIZE 16\n__global__ void f(int *X) { *X = SIZE; }",
  ),
  E1011: file(
    "`#if` takes integers, macros and `defined`, but no floats, assignments or calls.",
    "#if 1.5 > 1\n#endif\n__global__ void f(int *X) { *X = 1; }",
    "#if 3 > 2\n#endif\n__global__ void f(int *X) { *X = 1; }",
  ),
  E1012: file(
    "A preprocessor condition divides by zero. A macro that is not defined counts as 0.",
    "#if 64 / SIZE > 2\n#endif\n__global__ void f(int *X) { *X = 1; }",
    "#define SIZE 16\n#if 64 / SIZE > 2\n#endif\n__global__ void f(int *X) { *X = 1; }",
  ),
  E1014: file(
    "Every `#if`, `#ifdef` and `#ifndef` has one `#endif` in the same file, and at most one `#else`.",
    "#ifdef FAST\n__global__ void f(int *X) { *X = 1; }",
    "#ifdef FAST\n#endif\n__global__ void f(int *X) { *X = 1; }",
  ),
  E1018: file(
    "In the body of a function-like macro `#` makes a string of the parameter that follows it, so a parameter must follow.",
    "#define SHOW(x) # y\n__global__ void f(int *X) { *X = 1; }",
    "#define SHOW(x) printf(#x)\n__global__ void f(int *X) { SHOW(X); *X = 1; }",
  ),
  E1019: inside(
    "A macro call has as many arguments as the definition has parameters. Commas in parentheses do not separate arguments, commas in brackets do: write `(a[x, y])`.",
    "#define SUM(a, b) ((a) + (b))\n*I = SUM(n);",
    "#define SUM(a, b) ((a) + (b))\n*I = SUM(n, 1);",
  ),
  E1020: inside(
    "`##` joins two tokens, such as `x ## 1`. The result must be one token of the language.",
    "#define GLUE(a, b) a ## b\n*I = GLUE(n, +);",
    "#define GLUE(a, b) a ## b\nint n1 = n;\n*I = GLUE(n, 1);",
  ),
  E1024: file(
    "`__TRI__`, `__LINE__`, `NULL` and other predefined macros cannot be changed. Use another name.",
    "#define __LINE__ 5\n__global__ void f(int *X) { *X = 1; }",
    "#define LINE 5\n__global__ void f(int *X) { *X = LINE; }",
  ),
  E1025: file(
    "Macros that use each other several times grow exponentially. The compiler stops at a limit.",
    "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(x)))\n#define C(x) B(B(B(x)))\n__global__ void f(int *X) { C(*X = 1;) }",
    "__global__ void f(int *X) { for (int i = 0; i < 1000; i++) *X = 1; }",
  ),
  E1030: file(
    "Quoted names are searched beside the including file, then in the folders of `-I`. Names in `<>` are searched in the folders of `-I` and among the headers that tri includes.",
    '#include "missing.h"\n__global__ void f(int *X) { *X = 1; }',
    '#include "present.h"\n__global__ void f(int *X) { *X = ONE; }',
    { files: { "present.h": "#define ONE 1\n" } },
  ),
  E1031: file(
    "All sources are in the project (the folder of deno.json, or the working folder), so that a build gives the same result on every machine. Copy the file into the project.",
    '#include "../outside.h"\n__global__ void f(int *X) { *X = 1; }',
    '#include "inside.h"\n__global__ void f(int *X) { *X = ONE; }',
    { files: { "inside.h": "#define ONE 1\n" } },
  ),
  E1032: file(
    "A file includes itself, directly or through others. Put `#pragma once` or an include guard at its top.",
    '#include "again.h"\n__global__ void f(int *X) { *X = 1; }',
    '#include "once.h"\n__global__ void f(int *X) { *X = 1; }',
    {
      files: {
        "again.h": '#include "again.h"\n',
        "once.h": '#pragma once\n#include "once.h"\n',
      },
    },
  ),
  E1033: {
    text:
      "Headers are regular files of at most 4 MiB. Devices and pipes are not opened. If the system refuses the file, the message has the reason.",
  },
  E1034: {
    text:
      "Files that include each other twice are read 2^n times. The limit is 1,000,000 tokens of all included files. `#pragma once` at the top of a file includes it once.",
  },
  E1040: file(
    "The source rejects this configuration with `#error`. The author wrote the message.",
    '#ifndef __TRI__\n#else\n#error "not with this compiler"\n#endif\n__global__ void f(int *X) { *X = 1; }',
    '#ifndef __TRI__\n#error "not with this compiler"\n#endif\n__global__ void f(int *X) { *X = 1; }',
  ),
  E1043: file(
    "Pragmas are read before macros are expanded, so a macro cannot produce one. Write `#pragma`.",
    '_Pragma("once")\n__global__ void f(int *X) { *X = 1; }',
    "#pragma once\n__global__ void f(int *X) { *X = 1; }",
  ),
  W1003: inside(
    "The backslash still joins the lines, but the white space is invisible and other compilers may not join them. Delete the white space.",
    "*I = n + \\ \n1;",
    "*I = n + \\\n1;",
  ),
  W1005: inside(
    "The comment continues on the next line, which is probably intended as code.",
    "// files are in C:\\\n*I = 1;",
    "// files are in C:\n*I = 1;",
  ),
  W1013: file(
    "In `#if` every name that is not a macro counts as 0, including `half`: the comparison is always true. `__type_is` compares types.",
    "#if TYPE == half\n#endif\n__global__ void f(TYPE *X) { *X = 1; }",
    "#if __type_is(TYPE, half)\n#endif\n__global__ void f(TYPE *X) { *X = 1; }",
    { options: "-DTYPE=float" },
  ),
  W1021: file(
    "From here on the second definition applies. Write `#undef` before it if that is intended.",
    "#define SIZE 16\n#define SIZE 32\n__global__ void f(int *X) { *X = SIZE; }",
    "#define SIZE 16\n#undef SIZE\n#define SIZE 32\n__global__ void f(int *X) { *X = SIZE; }",
  ),
  W1022: file(
    "The definition in the file overrides the one of the command line. `#ifndef` makes it a default.",
    "#define SIZE 16\n__global__ void f(int *X) { *X = SIZE; }",
    "#ifndef SIZE\n#define SIZE 16\n#endif\n__global__ void f(int *X) { *X = SIZE; }",
    { options: "-DSIZE=32" },
  ),
  W1023: file(
    "No file uses the name given by `-D`. It may be misspelt.",
    "__global__ void f(int *X) { *X = 16; }",
    "__global__ void f(int *X) { *X = SIZE; }",
    { options: "-DSIZE=32" },
  ),
  W1041: file(
    "The source has a `#warning`. The author wrote the message.",
    '#warning "slow on old GPUs"\n__global__ void f(int *X) { *X = 1; }',
    "// slow on old GPUs\n__global__ void f(int *X) { *X = 1; }",
  ),
  W1042: file(
    "Pragmas of other compilers are ignored. This warning is off by default; it finds misspelt pragmas of tri.",
    "#pragma trj config SIZE=16\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
    { options: "--warn W1042" },
  ),
} satisfies Record<string, Explanation>;
