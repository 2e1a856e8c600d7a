/** Sections 7.1 to 7.3: core built-ins and those of memory. */
import { type Construct, R, section } from "./construct.ts";

export const MEMORY_BUILT_INS: readonly Construct[] = [
  ...section(
    "7.1 Core built-ins",
    {
      name: "`min`, `max`: -0 below +0, NaN loses, for every float type",
      body:
        "float z = 0.0f * f, m = -0.0f * f, q = NAN * f; Y[0] = 1.0f / min(z, m); Y[1] = 1.0f / max(m, z); Y[2] = min(q, f); Y[3] = max(f, q); double dz = z, dm = m; Y[4] = (float)(1.0 / min(dz, dm)); Y[5] = (float)(1.0 / max(dm, dz)); half hz = (half)z, hm = (half)m; Y[6] = 1.0f / min(hz, hm); Y[7] = 1.0f / max(hm, hz); bfloat16 bz = z, bm = m; Y[8] = 1.0f / min(bz, bm); I[0] = isnan(min(q, q)) + 2 * isnan(minimum(q, f)) + 4 * isnan(maximum(f, q));",
      i: [7],
      y: [-Infinity, Infinity, 1.5, 1.5, -Infinity, Infinity, -Infinity, Infinity, -Infinity],
    },
    {
      name: "`get_program_id`, `get_num_programs`",
      body:
        "I[get_program_id(0) + get_program_id(1) * get_num_programs(0)] = get_program_id(0) + 10 * get_program_id(1) + 100 * get_num_programs(0);",
      grid: [3, 2],
      i: [300, 301, 302, 310, 311, 312],
    },
    {
      name: "`min`, `max`",
      body: "Y[0] = max(NAN * f, 1.0f); I[0] = min(n, -1) + max(n, 9); I[1] = (int)max(3u, 4u);",
      y: [1],
      i: [8, 4],
    },
    {
      name: "`exp`, `log`, `sqrt`",
      body: `${R} float x[16] = *(X + 8 + r) + 0.25f; *(Y + r) = exp(x) + log(x) + sqrtf(x);`,
    },
    { name: "`select`", body: `${R} *(I + r) = select(r < n, r, -1);`, i: [0, 1, 2, 3, 4, -1] },
    {
      name: "`atomic_add` on scalars and tiles",
      body:
        `${R} atomic_add(I, n); atomic_add(I + (r & 3), r, r > 2); I[20] = atomic_add(I + 8, 4);`,
      i: [29, 27, 30, 36],
    },
    {
      name: "`atomic_cas`, `atomic_xchg`",
      body: "I[1] = atomic_cas(I, 0, 7); I[2] = atomic_cas(I, 0, 9); I[3] = atomic_xchg(I, 5);",
      i: [5, 0, 7, 7],
    },
    {
      name: "a spin lock",
      body: "while (atomic_cas(I, 0, 1) == 1) ; I[1] = I[1] + n; atomic_xchg(I, 0);",
      grid: [4, 1],
      i: [0, 20],
    },
    {
      name: "old spellings of `atomic_add`",
      body: "atomic_add_float_1x1(Y, f, true); f32_atomic_add(Y + 1, f);",
      y: [1.5, 1.5],
    },
    { name: "`__debug_barrier`", body: "__debug_barrier(); I[0] = 1;", i: [1] },
    {
      name: "`calloc`: constant buffers",
      head: "char __constant__ *AD = calloc(256);",
      body: "I[0] = *((int __constant__*)AD + n);",
      constants: { AD: [0, 10, 20, 30, 40, 50] },
      i: [50],
    },
    {
      name: "constant buffers through tiles of pointers, masks and helpers",
      head: "#define BYTES (4 * 16)\nint __constant__ *LOW = calloc(BYTES);\n" +
        "int __constant__ *HIGH = calloc(BYTES);\n" +
        "static int at(int __constant__ *table, int i) { return table[i]; }",
      body: `${R} int __constant__ *p[16] = r < 2 ? LOW + r : HIGH + (15 - r); ` +
        "*(I + r) = load(p, r != 3, -1); for (int k = 0; k < n; k++) I[1] += at(LOW + 2, k & 3);",
      constants: {
        LOW: [7, 8, 100, 200, 300, 400],
        HIGH: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
      },
      i: [7, 1108, 13, -1, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0],
    },
  ),
  ...section(
    "7.3 Memory extensions",
    {
      name: "`load`, `store` with fill and modifiers",
      body: `${R} float x[16] = load(X + r, r < 4, 9.0f, "cg"); store(Y + r, x, r < 8, "cs");`,
      y: [-2, -1.75, -1.5, -1.25, 9, 9, 9, 9, 0],
    },
    {
      name: "`prefetch`, `threadfence`",
      body: "prefetch(X + n); threadfence(); I[0] = 1;",
      i: [1],
    },
    {
      name: "`atomic_min`, `max`, `and`, `or`, `xor`, `sub`",
      body:
        `${R} atomic_max(I + r, r); atomic_min(I + r, 9); atomic_or(I + r, 16); atomic_and(I + r, 29); atomic_xor(I + r, 1); atomic_sub(I + r, 3);`,
    },
    {
      name: "orders and scopes of atomics",
      body: 'atomic_add(I, 2, true, "relaxed", "gpu"); atomic_xchg(I + 1, 3, "release");',
      i: [2, 3],
    },
  ),
];
