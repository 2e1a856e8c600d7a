/** Explanations of E1xxx and W1xxx: text, tokens, macros, included files. */
import { type Explanation, file, inside } from "./example.ts";

export const PREPROCESSOR = {
  E1001: {
    text:
      "Sources are UTF-8, so that columns and comments mean the same everywhere. Save the file as UTF-8; a leading byte-order mark is fine.",
  },
  E1002: inside(
    "A NUL ends a text for many tools, which would see another program than the compiler. Delete it.",
    "*I = 1;\0",
    "*I = 1;",
  ),
  E1004: inside(
    "Everything behind `/*` is comment up to `*/`. Comments do not nest: the first `*/` ends them all.",
    "*I = 1; /* all of this is comment",
    "*I = 1; /* only this */",
  ),
  E1006: inside(
    "Outside comments and strings only the characters of C are allowed, and each quote has its partner in the same line. Typographic quotes and dashes come from word processors.",
    "*I = n × 2;",
    "*I = n * 2;",
  ),
  E1010: file(
    "Directives are those of C: define, undef, include, if, ifdef, ifndef, elif, else, endif, error, warning, pragma, line.",
    "#defien SIZE 16\n__global__ void f(int *X) { *X = 16; }",
    "#define SIZE 16\n__global__ void f(int *X) { *X = SIZE; }",
  ),
  E1011: file(
    "`#if` knows integers, macros and `defined`; floats, assignments and calls belong into the program.",
    "#if 1.5 > 1\n#endif\n__global__ void f(int *X) { *X = 1; }",
    "#if 3 > 2\n#endif\n__global__ void f(int *X) { *X = 1; }",
  ),
  E1012: file(
    "A condition of the preprocessor divides by zero, perhaps because a macro in it is not defined and so counts as 0.",
    "#if 64 / SIZE > 2\n#endif\n__global__ void f(int *X) { *X = 1; }",
    "#define SIZE 16\n#if 64 / SIZE > 2\n#endif\n__global__ void f(int *X) { *X = 1; }",
  ),
  E1014: file(
    "Every `#if`, `#ifdef` and `#ifndef` has one `#endif` in the same file, and at most one `#else`.",
    "#ifdef FAST\n__global__ void f(int *X) { *X = 1; }",
    "#ifdef FAST\n#endif\n__global__ void f(int *X) { *X = 1; }",
  ),
  E1018: file(
    "In the body of a function-like macro `#` makes a string of the parameter behind it, so one has to stand there.",
    "#define SHOW(x) # y\n__global__ void f(int *X) { *X = 1; }",
    "#define SHOW(x) printf(#x)\n__global__ void f(int *X) { SHOW(X); *X = 1; }",
  ),
  E1019: inside(
    "A call of a macro gives as many arguments as the definition names. Commas in parentheses do not count, those in brackets do: write `(a[x, y])`.",
    "#define SUM(a, b) ((a) + (b))\n*I = SUM(n);",
    "#define SUM(a, b) ((a) + (b))\n*I = SUM(n, 1);",
  ),
  E1020: inside(
    "`##` makes one token out of two, such as `x ## 1`; what comes out has to be a token of the language.",
    "#define GLUE(a, b) a ## b\n*I = GLUE(n, +);",
    "#define GLUE(a, b) a ## b\nint n1 = n;\n*I = GLUE(n, 1);",
  ),
  E1024: file(
    "`__TRI__`, `__LINE__`, `NULL` and their like have the meaning that the compiler gives them. Take another name.",
    "#define __LINE__ 5\n__global__ void f(int *X) { *X = 1; }",
    "#define LINE 5\n__global__ void f(int *X) { *X = LINE; }",
  ),
  E1025: file(
    "Macros that double each other grow beyond all bounds in a few lines; the compiler gives up before the memory is full.",
    "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(x)))\n#define C(x) B(B(B(x)))\n__global__ void f(int *X) { C(*X = 1;) }",
    "__global__ void f(int *X) { for (int i = 0; i < 1000; i++) *X = 1; }",
  ),
  E1030: file(
    "Quoted names are looked for beside the including file, then in the folders given by `-I`; names in `<>` only there and among the few headers that tri brings along.",
    '#include "missing.h"\n__global__ void f(int *X) { *X = 1; }',
    '#include "present.h"\n__global__ void f(int *X) { *X = ONE; }',
    { files: { "present.h": "#define ONE 1\n" } },
  ),
  E1031: file(
    "What is compiled lies in the project (the folder of deno.json, or where tri was started), so that a build means the same on every machine. Copy the file into the project.",
    '#include "../outside.h"\n__global__ void f(int *X) { *X = 1; }',
    '#include "inside.h"\n__global__ void f(int *X) { *X = ONE; }',
    { files: { "inside.h": "#define ONE 1\n" } },
  ),
  E1032: file(
    "A file includes itself, perhaps through others. Put `#pragma once` or an include guard at its top.",
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
      "Headers are files of at most 4 MiB. A device or a pipe may never end, and is not opened; where the system refuses the file, the message is the system's.",
  },
  E1034: {
    text:
      "Files that include each other twice each are read 2^n times: at most 1,000,000 tokens of all included files together. `#pragma once` at the top of a file includes it once.",
  },
  E1040: file(
    "The program says that it cannot be compiled like this; the text is its author's.",
    '#ifndef __TRI__\n#else\n#error "not with this compiler"\n#endif\n__global__ void f(int *X) { *X = 1; }',
    '#ifndef __TRI__\n#error "not with this compiler"\n#endif\n__global__ void f(int *X) { *X = 1; }',
  ),
  E1043: file(
    "Pragmas are read before macros are expanded, so none can come out of a macro. Write `#pragma`.",
    '_Pragma("once")\n__global__ void f(int *X) { *X = 1; }',
    "#pragma once\n__global__ void f(int *X) { *X = 1; }",
  ),
  W1003: inside(
    "The backslash joins the lines all the same, but an editor does not show why, and other compilers may disagree. Delete the blanks.",
    "*I = n + \\ \n1;",
    "*I = n + \\\n1;",
  ),
  W1005: inside(
    "The comment goes on in the next line, which is probably meant as code.",
    "// files are in C:\\\n*I = 1;",
    "// files are in C:\n*I = 1;",
  ),
  W1013: file(
    "In `#if` every name that is no macro counts as 0, and so do words like `half`: the comparison is always true. `__type_is` compares types.",
    "#if TYPE == half\n#endif\n__global__ void f(TYPE *X) { *X = 1; }",
    "#if __type_is(TYPE, half)\n#endif\n__global__ void f(TYPE *X) { *X = 1; }",
    { options: "-DTYPE=float" },
  ),
  W1021: file(
    "The second definition wins from here on. Write `#undef` before it if that is meant.",
    "#define SIZE 16\n#define SIZE 32\n__global__ void f(int *X) { *X = SIZE; }",
    "#define SIZE 16\n#undef SIZE\n#define SIZE 32\n__global__ void f(int *X) { *X = SIZE; }",
  ),
  W1022: file(
    "The file's definition wins over the one of the command line, which then does nothing. `#ifndef` makes it a default.",
    "#define SIZE 16\n__global__ void f(int *X) { *X = SIZE; }",
    "#ifndef SIZE\n#define SIZE 16\n#endif\n__global__ void f(int *X) { *X = SIZE; }",
    { options: "-DSIZE=32" },
  ),
  W1023: file(
    "Nothing in the files mentions the name that was given by `-D`. It may be misspelt.",
    "__global__ void f(int *X) { *X = 16; }",
    "__global__ void f(int *X) { *X = SIZE; }",
    { options: "-DSIZE=32" },
  ),
  W1041: file(
    "The program has something to say; the text is its author's.",
    '#warning "slow on old GPUs"\n__global__ void f(int *X) { *X = 1; }',
    "// slow on old GPUs\n__global__ void f(int *X) { *X = 1; }",
  ),
  W1042: file(
    "Pragmas for other compilers are skipped. This warning is off; it finds misspelt ones of tri.",
    "#pragma trj config SIZE=16\n__global__ void f(int *X) { *X = 1; }",
    "#pragma tri num_warps=2\n__global__ void f(int *X) { *X = 1; }",
    { options: "--warn W1042" },
  ),
} satisfies Record<string, Explanation>;
