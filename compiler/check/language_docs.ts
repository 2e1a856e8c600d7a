/**
 * What the names of the language mean, in a line each: for the reference page and for editors. The rules themselves are in
 * the checker; a test compares the names with its tables.
 */
import { MATH_ROWS } from "../support/math_functions.ts";

/** Built-in functions by canonical name. */
export const BUILTIN_DOCS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(MATH_ROWS.map(([name, { doc }]) => [name, doc])),
  get_program_id: "index of the program in the grid along axis 0, 1 or 2",
  get_num_programs: "extent of the grid along axis 0, 1 or 2",
  min: "the smaller; NaN loses against a number, -0 < +0. With one argument: of all elements",
  max: "the larger; NaN loses against a number, -0 < +0. With one argument: of all elements",
  select: "a where c is true, else b; both are evaluated",
  atomic_cas: "stores val where *p equals cmp; returns the old value",
  atomic_xchg: "stores val; returns the old value",
  atomic_add:
    "adds val; returns the old value, 0 where the mask is off; on GPUs float subnormals count as 0 here",
  f32_atomic_add: "adds val; an old spelling",
  calloc:
    "reserves n bytes of constant memory, zeros until the host fills them; only as the initialiser of a `__constant__` buffer",
  __debug_barrier: "orders all memory operations of the program before and after it; for debugging",
  load: 'what p points to, `other` where the mask is off; modifiers such as "cg", "evict_first"',
  store: 'stores v where the mask is on; modifiers such as "cs", "wt"',
  prefetch: "a hint that p will be loaded",
  atomic_min: "stores the smaller; returns the old value",
  atomic_max: "stores the larger; returns the old value",
  atomic_and: "stores the bitwise and; returns the old value",
  atomic_or: "stores the bitwise or; returns the old value",
  atomic_xor: "stores the bitwise exclusive or; returns the old value",
  atomic_sub: "subtracts val; returns the old value",
  threadfence: "orders the program's memory operations for all programs of the GPU",
  clamp: "min(max(x, lo), hi)",
  cdiv: "a / b rounded up, for non-negative integers",
  next_pow2: "the least power of two that is not below a constant",
  ilog2: "the logarithm to base 2 of a constant, rounded down",
  zeros: "a tile of zeros: `zeros(float[M, N])`",
  full: "a tile of one value: `full(float[M, N], 1)`",
  arange: "the same as `lo ... hi`",
  reshape: "the same elements in row-major order, in another shape",
  permute: "axes in another order",
  trans: "the same as `^x`",
  broadcast_to: "broadcast to a shape",
  expand_dims: "with a new axis of extent 1",
  flip: "elements along an axis in reverse order",
  cat:
    "b after a, along axis 0; tiles of one element type keep it, others become their common type",
  join: "a and b side by side along a new last axis of extent 2; types as for `cat`",
  interleave: "elements of a and b interleaved along the last axis; types as for `cat`",
  split0: "the first half of what join made",
  split1: "the second half of what join made",
  sum: "sum along an axis, or of all elements",
  prod: "product along an axis, or of all elements",
  any: "whether any element is not 0",
  all: "whether no element is 0",
  xor_sum: "exclusive or along an axis, or of all elements",
  reduce_max: "the largest along an axis, or of all elements",
  reduce_min: "the smallest along an axis, or of all elements",
  argmax: "where the largest is",
  argmin: "where the smallest is",
  cumsum: "inclusive sums along an axis",
  cumprod: "inclusive products along an axis",
  cummax: "the largest so far along an axis",
  cummin: "the smallest so far along an axis",
  sort:
    "sorted along an axis (the last), ascending unless `descending`; -0 before +0 as for `min`, NaN last; elements that are " +
    "equal then have equal bits, so stability cannot be observed",
  bitonic_merge:
    "`sort` of lines that rise and then fall, or the other way round, or become so when rotated, in log2(n) steps; of others the " +
    "elements in some order",
  gather: "elements of x that an index tile names along an axis",
  histogram: "how many elements have each of the values 0 … bins - 1",
  dot: 'acc + a @ b; modes "ieee", "tf32", "tf32x3", "bf16x3", "f32acc"',
  philox: "word 0 to 3 of Philox4x32-10 with this key and counter",
  randint: "32 random bits",
  rand: "uniform in [0, 1)",
  randn: "normally distributed",
  multiple_of: "x, which the program promises to be a multiple of n",
  max_contiguous: "x, of which runs of n elements are promised to be consecutive numbers",
  max_constancy: "x, of which runs of n elements are promised to be equal",
  assume: "a promise that the scalar c is true",
  printf: "prints, one line a program; tiles print index and value",
  assert: "stops the program where c is false; on the emulator and in debug builds",
  static_print: "prints constants and types at compile time",
};

/** Attributes of parameters and local variables, as they are written. */
export const ATTRIBUTE_DOCS: Readonly<Record<string, string>> = {
  "__multipleof(N)": "an integer, or each element of a tile of integers, is a multiple of N",
  "__aligned(N)": "a pointer is a multiple of N bytes; N is a power of two",
  "__noalias": "a parameter's memory is reached through no other one if any program writes it",
  "__readonly": "no program of the launch writes a parameter's memory",
  "__writeonly": "no program of the launch reads a parameter's memory",
  "__retune": "a parameter whose change re-selects the configuration",
};

/** What may follow `#pragma tri` at file scope, options left out. */
export const PRAGMA_DOCS: Readonly<
  Record<string, { readonly form: string; readonly doc: string }>
> = {
  include: { form: 'include "FILE"', doc: "the pragmas of a file, which has nothing else" },
  kernel: { form: "kernel NAME, …", doc: "the next pragmas are for these kernels" },
  variant: {
    form: "variant [NAME:] TYPE=half, …",
    doc:
      "one combination of parameters that the caller selects; if one of them names the kernel, each name is a kernel with its own wrapper",
  },
  variants: { form: "variants TYPE in {float, half}, …", doc: "all combinations of these values" },
  config: {
    form: "config TM=64, TN=32; num_warps=4",
    doc: "one combination of parameters that the tuner selects",
  },
  configs: {
    form: "configs TM in {32, 64}, …; num_warps in {4, 8} if EXPR",
    doc: "all combinations for which the condition is true",
  },
  key: { form: "key(M, N)", doc: "parameters whose change re-selects the configuration" },
  grid: { form: "grid(EXPR, EXPR, EXPR)", doc: "up to three extents of the launch" },
  tensor: {
    form: "tensor P : in TYPE[M, N] strides [ld, 1] …, …",
    doc:
      "what a pointer points to, and others after commas: `in`, `out` or `inout`, type, extents, strides in elements; then `align(N)`, `contiguous`, `optional`, `noalias`, `reread`",
  },
  require: {
    form: 'require(EXPR, "text")',
    doc: "a condition that is checked before each launch, and that the compiler relies on",
  },
  noalias: { form: "noalias(all)", doc: "`__noalias` for all or for some pointers" },
  specialize: {
    form: "specialize(auto && EXPR) for NAME in {256, 512}; num_warps=2, …",
    doc:
      "further instances: `auto`, `off`, or one for each of the conditions and values, with these numbers in place of the configuration's",
  },
};

/** Options of `#pragma tri`. */
export const OPTION_DOCS: Readonly<Record<string, string>> = {
  num_warps: "warps in a block (default: 4, more for large tiles)",
  num_ctas: "blocks of a program, one cluster (default: 1)",
  num_stages: "depth of software pipelining (default: chosen)",
  max_registers: "the most registers a thread may have",
  fp_contract: "whether a * b + c may become one operation",
  ftz: "whether denormal floats count as zero",
  fast_div: "whether quotients of floats may be off by two units in the last place",
  math: "fast or accurate functions",
  dot: "how `@` multiplies floats",
  literals: "whether 1.0 takes the type of the other operand, or is a double as in C",
};

/** Hints of `#pragma tri loop`. */
export const HINT_DOCS: Readonly<Record<string, string>> = {
  unroll: "number of copies of the body; without a number, a full unroll",
  num_stages: "depth of software pipelining of the loop's loads",
  pipeline: "whether the loop may be pipelined",
  flatten: "merges the loop with the one directly inside; always ignored",
};

/** Predefined macros. */
export const MACRO_DOCS: Readonly<Record<string, string>> = {
  __TRITON_C__: "1",
  __TRI__: "10000 · major + 100 · minor + patch of the compiler's version",
  __TRI_ARCH__: "10 times the architecture: 900 for sm_90",
  __TRI_ARCH_SPECIFIC__:
    "the same on targets that run on one architecture alone: 900 for sm_90a; 0 on others",
  __TRI_NUM_WARPS__: "warps in a block of the instance",
  __TRI_NUM_STAGES__: "its depth of software pipelining",
  __TRI_DEBUG__: "1 in debug builds, else not defined",
  __FILE__: "the file's name",
  __LINE__: "the line",
  NULL: "0",
};
