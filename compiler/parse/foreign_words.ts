/**
 * Words of CUDA, Python's Triton and the dialect before August 2019, and what Triton-C has instead. They are hints only: a
 * program may declare any of these names.
 */

type Hints = Readonly<Record<string, string>>;

const vector = (type: string): string =>
  `there are no vector types; declare a tile, for example \`${type} v[4] = *(p + 0 ... 4)\``;

/** Where a type or a specifier is expected. */
const TYPES: Hints = {
  tunable: "list the values in a `#pragma tri configs` line, or pass them with `-D`",
  kernel: "kernels begin with `__global__`",
  read_only: "write `__readonly` after the parameter's name",
  write_only: "write `__writeonly` after the parameter's name",
  int1: "write `bool`",
  fp16: "write `half`",
  bf16: "write `bfloat16`",
  fp32: "write `float`",
  fp64: "write `double`",
  __half: "write `half`",
  __nv_bfloat16: "write `bfloat16`",
  __nv_fp8_e4m3: "write `float8e4`",
  __nv_fp8_e5m2: "write `float8e5`",
  uint: "write `unsigned`",
  uchar: "write `unsigned char`",
  float2: vector("float"),
  float4: vector("float"),
  int2: vector("int"),
  int4: vector("int"),
  half2: vector("half"),
  __half2: vector("half"),
  dim3: "the grid has three axes: `get_program_id(0)`, `get_program_id(1)`, `get_program_id(2)`",
  __shared__: "remove it: a tile such as `float t[16, 16]` is a value, and the compiler decides " +
    "what is in shared memory",
  __managed__: "pass a pointer parameter; the host allocates the memory",
};

const PRAGMA_BLOCK = "write `#pragma tri num_warps=4` before the kernel";

/** Specifiers of functions, which are passed over with their arguments. */
export const FOREIGN_SPECIFIERS: Hints = {
  __device__: "a function without `__global__` is a helper already; remove the keyword",
  __host__: "the host's code is TypeScript; remove the keyword",
  __forceinline__: "helpers are always inlined; remove the keyword",
  __noinline__: "helpers are always inlined; remove the keyword",
  __launch_bounds__: PRAGMA_BLOCK,
  __maxnreg__: "write `#pragma tri max_registers=128` before the kernel",
  __cluster_dims__: "blocks of a launch are independent; remove it",
};

/** Where a file's declaration begins. */
export const FOREIGN_DECLARATIONS: Hints = {
  template:
    "make the type a macro, `TYPE`, and list its values: `#pragma tri variants TYPE in {float, half}`",
  namespace: "there are no namespaces; remove it",
  using: "there are no namespaces; for types write `typedef float T;`",
  class: "there are no structures; use separate variables and parameters",
  import: "`#include` reads another file",
  def: "kernels begin with `__global__ void`",
};

const ORDER = "remove it: statements take effect in order for all elements, and the compiler " +
  "inserts the barriers that memory accesses need";
const LANES = "a program has no lanes: reduce a tile, as in `x[+]` or `x[max]`";

/** Where a function is called; most are one of Triton-C under another name. */
const FUNCTIONS: Hints = {
  __syncthreads: ORDER,
  __syncwarp: ORDER,
  __threadfence_block: ORDER,
  __threadfence: "write `threadfence()`",
  __threadfence_system:
    'write `threadfence()`; the memory order of one atomic is its last argument, `"sys"`',
  __shfl_sync: LANES,
  __shfl_xor_sync: LANES,
  __shfl_up_sync: "a program has no lanes: scan a tile, as in `cumsum(x, 0)`",
  __shfl_down_sync: LANES,
  __ballot_sync: "a program has no lanes: test a tile, as in `m[any]` or `m[all]`",
  __any_sync: "test a tile: `m[any]`",
  __all_sync: "test a tile: `m[all]`",
  __activemask: "a program has no lanes; remove it",
  __ldg: "write `*p`, and `__readonly` after the parameter's name",
  atomicAdd: "write `atomic_add(p, v)`",
  atomicSub: "write `atomic_sub(p, v)`",
  atomicMin: "write `atomic_min(p, v)`",
  atomicMax: "write `atomic_max(p, v)`",
  atomicAnd: "write `atomic_and(p, v)`",
  atomicOr: "write `atomic_or(p, v)`",
  atomicXor: "write `atomic_xor(p, v)`",
  atomicExch: "write `atomic_xchg(p, v)`",
  atomicCAS: "write `atomic_cas(p, compare, v)`",
  fmax: "write `max(a, b)`",
  fmaxf: "write `max(a, b)`",
  fmin: "write `min(a, b)`",
  fminf: "write `min(a, b)`",
  __expf: "write `exp(x)`",
  __logf: "write `log(x)`",
  __sinf: "write `sin(x)`",
  __cosf: "write `cos(x)`",
  __powf: "write `pow(x, y)`",
  __fdividef: "write `a / b`",
  __fsqrt_rn: "write `sqrt(x)`",
  __fmaf_rn: "write `fma(a, b, c)`",
  __popc: "write `popc(x)`",
  __clz: "write `clz(x)`",
  __ffs: "write `ffs(x)`",
  __brev: "write `brev(x)`",
  __mulhi: "write `mulhi(a, b)`",
  __umulhi: "write `umulhi(a, b)`",
  __int_as_float: "write `bitcast<float>(x)`",
  __uint_as_float: "write `bitcast<float>(x)`",
  __float_as_int: "write `bitcast<int>(x)`",
  __float_as_uint: "write `bitcast<unsigned>(x)`",
  __float2half: "write `(half) x`",
  __half2float: "write `(float) x`",
  __float2bfloat16: "write `(bfloat16) x`",
  __bfloat162float: "write `(float) x`",
  malloc: "pass a pointer parameter; the host allocates the memory",
  free: "pass a pointer parameter; the host allocates the memory",
  static_cast: "write `(float) x`",
  reinterpret_cast: "write `(float*) p`, or `bitcast<float>(x)` for the bits of a value",
  get_global_range: "write `get_program_id(0) * N + 0 ... N`",
  range: "write `0 ... 16`",
  len: "extents are constants of the tile's declaration",
};

const TILES = "a program computes with tiles, not with threads: `0 ... 64` is a tile of 64 indices";

/** Where a value is read. */
const VALUES: Hints = {
  threadIdx: TILES,
  blockIdx: "write `get_program_id(0)`",
  gridDim: "write `get_num_programs(0)`",
  blockDim: "the extents of tiles are constants, as in `get_program_id(0) * 64 + 0 ... 64`",
  warpSize: TILES,
  nullptr: "write `NULL`",
  None: "write `NULL`, or `newaxis` in a subscript",
  True: "write `true`",
  False: "write `false`",
  FLT_MAX: "write `F32_INFINITY`, or the number",
  INT_MAX: "write `2147483647`",
  tl: "built-in functions have no prefix: `load(p, mask)`, `exp(x)`",
  triton: "built-in functions have no prefix: `cdiv(a, b)`",
};

const AXES: Hints = { x: "0", y: "1", z: "2" };

/** What replaces a member of CUDA's built-in variables, such as `blockIdx.x`; undefined for another name. */
export function replacementOfMember(variable: string, member: string): string | undefined {
  const axis = Object.hasOwn(AXES, member) ? AXES[member] : undefined;
  if (axis === undefined) return undefined;
  if (variable === "blockIdx") return `get_program_id(${axis})`;
  return variable === "gridDim" ? `get_num_programs(${axis})` : undefined;
}

const lookUp = (hints: Hints, word: string): string | undefined =>
  Object.hasOwn(hints, word) ? hints[word] : undefined;

/** The hint for a word that nothing declares where a type is expected. */
export function foreignTypeHint(word: string): string | undefined {
  return lookUp(TYPES, word) ?? lookUp(FOREIGN_SPECIFIERS, word);
}

/** The hint for a name that nothing declares in an expression. */
export function foreignNameHint(word: string): string | undefined {
  return lookUp(VALUES, word) ?? lookUp(FUNCTIONS, word);
}

/** All functions and values, for a test. */
export const FOREIGN_NAMES: readonly string[] = [...Object.keys(FUNCTIONS), ...Object.keys(VALUES)];
