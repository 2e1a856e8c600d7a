/**
 * What a construct of the language is, and what the tables of the sections share. Programs are statements of a kernel with
 * the parameters below; buffers have 64 elements, those that are written start with zeros.
 */

export interface Construct {
  readonly section: string;
  /** Begins a line of the table. */
  readonly name: string;
  /** Statements. */
  readonly body: string;
  /** Before the kernel: helpers, macros, pragmas. */
  readonly head?: string;
  /** First elements that Y (or, if it is integers, I) must hold: what the reference is judged by. */
  readonly y?: readonly number[];
  readonly i?: readonly number[];
  /** Programs of the launch; 1 if not given. */
  readonly grid?: readonly [number, number];
  /** What constant buffers hold, as `int`. */
  readonly constants?: Readonly<Record<string, readonly number[]>>;
}

/**
 * `X[k]` is `(k - 8) / 4` for floats and `k - 8` for integers; `U` and `B` are unsigned and bytes. `n` is 5, `f` is 1.5.
 */
export const PARAMETERS = "const float *X, float *Y, int *I, const int *C, const unsigned *U, " +
  "const char *B, const half *H, const double *D, long *L, int n, float f";

/** Rows of a section of language.md. */
export const section = (
  name: string,
  ...rows: readonly (Omit<Construct, "section">)[]
): readonly Construct[] => rows.map((one) => ({ section: name, ...one }));

/** Indices of 16 elements. */
export const R = "int r[16] = 0 ... 16; ";
/** Indices and elements of an 8 x 8 tile of X. */
export const T =
  "int r[8] = 0 ... 8; int t[8, 8] = r[:, newaxis] * 8 + r[newaxis, :]; float z[8, 8] = *(X + t); ";
