/** The table of docs/language-coverage.md, out of the constructs and of what other tests show. */
import { CONSTRUCTS } from "./constructs.ts";
import { type Construct, PARAMETERS } from "./constructs/construct.ts";

/** The program of a construct. */
export function textOf({ head = "", body }: Construct): string {
  return `${head}\n#pragma tri specialize(off)\n__global__ void k(${PARAMETERS}) {\n${body}\n}\n`;
}

export function titleOf({ section, name }: Construct): string {
  return `compileFile() runs ${section}: ${name}`;
}

/** What programs cannot show: diagnostics, text, contracts. Titles are literal. */
export const ELSEWHERE:
  readonly (readonly [section: string, name: string, file: string, title: string])[] = [
    [
      "0 Diagnostics",
      "every error of a file, none that only follows",
      "compiler/check/check_stmt_test.ts",
      "check() reports every error of a file, and none that only follows",
    ],
    [
      "0 Diagnostics",
      "each code of the checker in a golden file",
      "compiler/check/check_golden_test.ts",
      "check() shows each of its codes in a golden file",
    ],
    [
      "0 Diagnostics",
      "each code of the preprocessor and of literals in a golden file",
      "compiler/preprocess/preprocess_golden_test.ts",
      "preprocess() shows each of its codes in a golden file",
    ],
    [
      "0 Diagnostics",
      "codes of what the emulator finds",
      "emulator/driver/failure_test.ts",
      "emulatorError() has the code of the language for a finding",
    ],
    [
      "0 Diagnostics",
      "valid mutated programs, for every target",
      "compiler/fuzz_test.ts",
      "compileFile() compiles valid mutated programs, for every target",
    ],
    [
      "0 Diagnostics",
      "any text ends in diagnostics",
      "compiler/fuzz_test.ts",
      "compileFile() takes any text",
    ],
    [
      "1 Preprocessor",
      "text, line ends, continued lines",
      "compiler/preprocess/lexer_test.ts",
      "lex() joins continued lines and keeps spans in the text as written",
    ],
    [
      "1 Preprocessor",
      "conditions in 64 bits",
      "compiler/preprocess/preprocess_test.ts",
      "preprocess() evaluates conditions in 64 bits, signed and unsigned, with C's precedences",
    ],
    [
      "1 Preprocessor",
      "C11's examples of macro expansion",
      "compiler/preprocess/macros_test.ts",
      "preprocess() expands the example of C11 6.10.3.5, number 3",
    ],
    [
      "1 Preprocessor",
      "`-D` values are tokens",
      "compiler/preprocess/macros_test.ts",
      "preprocess() puts -D values in as tokens, whatever they are",
    ],
    [
      "1 Preprocessor",
      "predefined macros",
      "compiler/preprocess/preprocess_test.ts",
      "predefinedMacros() defines only names that programs may not define",
    ],
    [
      "1 Preprocessor",
      "`#include`",
      "compiler/preprocess/preprocess_test.ts",
      "preprocess() includes files by quotes, brackets and macros, and C's headers as empty files",
    ],
    [
      "2 Tokens and literals",
      "numbers and `..`",
      "compiler/preprocess/lexer_test.ts",
      "lex() stops a number before two dots and takes signs only after its base's exponent letter",
    ],
    [
      "2 Tokens and literals",
      "types of integer literals",
      "compiler/preprocess/literals_test.ts",
      "parseNumber() gives integers the first type of their row that fits",
    ],
    [
      "2 Tokens and literals",
      "weak literals round once from their digits",
      "compiler/preprocess/literals_test.ts",
      "roundDecimal() rounds once, to even at the exact middle of two neighbours",
    ],
    [
      "3 Types",
      "specifiers in any order",
      "compiler/check/check_decl_test.ts",
      "check() reads types in every order and form",
    ],
    [
      "4 Declarations",
      "promises of locals",
      "compiler/check/check_decl_test.ts",
      "check() keeps attributes of locals at their declaration",
    ],
    [
      "4 Declarations",
      "promises of locals, checked in builds for debugging",
      "compiler/lower/calls/calls_test.ts",
      "buildMultiple() checks attributes of locals in debug builds, tiles and pointers too",
    ],
    [
      "4 Declarations",
      "broken promises of parameters are dropped",
      "compiler/check/functions/check_function_test.ts",
      "check() drops attributes that the kernel breaks, through any copy of a pointer",
    ],
    [
      "5.1 Precedence",
      "every binary operator by its level",
      "compiler/parse/parse_expr_test.ts",
      "parse() binds every binary operator by its level, to the left among equals",
    ],
    [
      "5.2–5.5 Operators",
      "the common type of every pair of types",
      "compiler/check/expressions/convert_test.ts",
      "commonName() is the usual arithmetic conversions, for every pair of types",
    ],
    [
      "5.2–5.5 Operators",
      "shapes that do not fit",
      "compiler/check/expressions/broadcast_test.ts",
      "clashText() and clashPicture() show both shapes and the first bad axis",
    ],
    [
      "6 Statements",
      "`unroll`, and hints that cannot be followed",
      "compiler/build/unroll_test.ts",
      "unroll() unrolls loops whose number of iterations is constant",
    ],
    [
      "6 Statements",
      "`num_stages`, `pipeline(off)` of a loop",
      "compiler/build/unroll_test.ts",
      "buildFunc() gives a loop the number of stages of its hint, not of the kernel",
    ],
    [
      "7.3 Memory extensions",
      "`prefetch` is emitted once per access",
      "compiler/lower/calls/calls_test.ts",
      "lowerPrefetch() prefetches once for each access, to L2, where the mask is set",
    ],
    [
      "7.4 Value extensions",
      "what `printf` prints, of scalars and tiles",
      "compiler/lower/calls/calls_test.ts",
      "lowerPrint() prints each element of a tile once, with its index and the scalars beside it",
    ],
    [
      "7.4 Value extensions",
      "`assert` that fails, and where checks are left out",
      "compiler/lower/calls/calls_test.ts",
      "lowerCheck() stops at one false element, and says where and what",
    ],
    [
      "7.4 Value extensions",
      "what `assume` teaches the compiler",
      "compiler/lower/calls/calls_test.ts",
      "buildAssume() informs axis analysis: accesses become vectors",
    ],
    [
      "9 Numbers",
      "`ftz`",
      "compiler/lower/float_options_test.ts",
      "readOptions() keeps subnormal numbers, and flushes them for ftz(on)",
    ],
    [
      "9 Numbers",
      "`fp_contract`",
      "compiler/lower/float_options_test.ts",
      "readOptions() lets products be fused into sums, unless fp_contract(off) rounds both",
    ],
    [
      "9 Numbers",
      "`fast_div`",
      "compiler/lower/float_options_test.ts",
      "readOptions() takes quotients of 2 ulp for fast_div(on), of floats only",
    ],
    [
      "9 Numbers",
      "`math(precise)`",
      "compiler/lower/float_options_test.ts",
      "readOptions() bounds exp, exp2 and logarithms by 2 ulp for math(precise)",
    ],
    [
      "10 Parameters",
      "`max_registers`",
      "compiler/lower/float_options_test.ts",
      "readOptions() passes max_registers on to the assembler",
    ],
    [
      "10 Parameters",
      "the grammar of pragmas",
      "compiler/pragma/read_pragmas_test.ts",
      "parsePragmaLine() reads every item of the grammar",
    ],
    [
      "1 Preprocessor",
      "`#elifdef`, `#elifndef`, the first branch that holds",
      "compiler/preprocess/preprocess_test.ts",
      "preprocess() takes the first branch that holds, and evaluates none after it",
    ],
    [
      "1 Preprocessor",
      "`#error`, `#warning`, `#`, unknown directives",
      "compiler/preprocess/preprocess_test.ts",
      "preprocess() follows #error, #warning and the empty directive, and rejects unknown ones",
    ],
    [
      "1 Preprocessor",
      "skipped groups need only be tokens",
      "compiler/preprocess/preprocess_test.ts",
      "preprocess() skips groups without judging what is in them",
    ],
    [
      "4 Declarations",
      "helpers in any order, several kernels in a file",
      "compiler/mod_test.ts",
      "compileFile() compiles kernels of one file each with its own parameters",
    ],
    [
      "4 Declarations",
      "at file scope only constants",
      "compiler/check/check_decl_test.ts",
      "check() takes at file scope only what is constant",
    ],
    [
      "8 Programs and memory",
      "barriers between accesses that may meet, none where they cannot",
      "compiler/schedule/memory_order_test.ts",
      "orderMemory() puts a barrier between a load and a store that may alias",
    ],
    [
      "8 Programs and memory",
      "`__noalias` lets accesses pass each other",
      "compiler/schedule/memory_order_test.ts",
      "orderMemory() puts none where a parameter is promised not to alias",
    ],
    [
      "8 Programs and memory",
      "a round's store before that of the next one",
      "compiler/schedule/memory_order_test.ts",
      "orderMemory() orders an iteration's store before that of the next one, which may overlap",
    ],
    [
      "10 Parameters",
      "`variant`, `variants`",
      "compiler/instances/instances_test.ts",
      "planInstances() multiplies variants lines and adds each variant",
    ],
    [
      "10 Parameters",
      "`config`, `configs … if`",
      "compiler/instances/instances_test.ts",
      "planInstances() takes the first configuration that each variant's filter lets through",
    ],
    [
      "10 Parameters",
      "`-D` lists, and `-D` over pragmas",
      "compiler/instances/instances_test.ts",
      "planInstances() reads a list in -D as configurations",
    ],
    [
      "10 Parameters",
      "options of files, configurations and the command line",
      "compiler/instances/instances_test.ts",
      "planInstances() lets the configuration's options win over the file's, and overrides over both",
    ],
    [
      "10 Parameters",
      "`kernel`: pragmas directed elsewhere",
      "compiler/instances/instances_test.ts",
      "assignItems() gives a group to the next kernel unless it is directed elsewhere",
    ],
    [
      "10 Parameters",
      "`grid` and `tensor`, written",
      "compiler/mod_test.ts",
      "compileFile() takes the plain transposition's grid and tensors from pragmas",
    ],
    [
      "10 Parameters",
      "`grid` and tensors, inferred",
      "compiler/mod_test.ts",
      "compileFile() infers the whole contract of the bounds-checked transposition",
    ],
    [
      "10 Parameters",
      "`specialize(auto)`",
      "compiler/mod_test.ts",
      "compileFile() specialises on multiples of 16 bytes of the smallest element",
    ],
    [
      "10 Parameters",
      "`specialize(auto)`, strides that are 1",
      "compiler/instances/unit_strides_test.ts",
      "tensors whose strides are all arguments are assumed to be contiguous along the last axis",
    ],
    [
      "10 Parameters",
      "`specialize(e)`",
      "compiler/mod_test.ts",
      "compileFile() uses the values that a specialisation requires",
    ],
    [
      "10 Parameters",
      "`specialize(e); num_warps=N`",
      "compiler/instances/specialize_test.ts",
      "numbers of a specialisation are in place of those of its configuration",
    ],
    [
      "10 Parameters",
      "`dot(tf32)`, `literals(double)`",
      "compiler/mod_test.ts",
      "compileFile() checks a kernel under its own dot and literals",
    ],
    [
      "10 Parameters",
      "the range of addresses that a launch touches",
      "compiler/contract/infer_test.ts",
      "infer() claims a range that holds every element a launch touches",
    ],
    [
      "11 Kernels in the wild",
      "random programs of all constructs",
      "programs/random_test.ts",
      "compileFile() gives random programs the meaning that the reference gives them, on all targets",
    ],
  ];

const HEAD = `# What of the language works

Each construct of [the language](language.md), section by section, with the test that shows it: all
of them are compiled for every architecture and run on the emulator against a reference interpreter.
This file is made from \`tests/programs/constructs\`; \`deno task bless\` writes it anew.

Random programs (\`tests/programs/random_test.ts\`) mix them.
`;

const SHOWN_BY = "programs/constructs_test.ts";

/** A cell of a table: bars would end it. */
const cell = (text: string): string => text.replaceAll("|", "\\|");

/** The whole file. */
export function coverageTable(): string {
  const rows = [
    ...CONSTRUCTS.map((one) => ({
      section: one.section,
      name: one.name,
      shown: `${SHOWN_BY}: ${titleOf(one)}`,
    })),
    ...ELSEWHERE.map(([section, name, file, title]) => ({
      section,
      name,
      shown: `${file}: ${title}`,
    })),
  ];
  const sections = [...new Set(rows.map(({ section }) => section))].toSorted((a, b) =>
    parseFloat(a) - parseFloat(b)
  );
  const tables = sections.map((section) => {
    const lines = rows.filter((row) => row.section === section)
      .map(({ name, shown }) => [cell(name), cell(shown)]);
    return `\n## ${section}\n\n${formatTable([["construct", "shown by"], ...lines])}`;
  });
  return HEAD + tables.join("");
}

/** A Markdown table with its columns lined up, as `deno fmt` wants it. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((text, column) => text.padEnd(widths[column] ?? 0, fill)).join(" | ")} |\n`;
  const [head = [], ...body] = rows;
  return [line(head), line(head.map(() => ""), "-"), ...body.map((row) => line(row))].join("");
}
