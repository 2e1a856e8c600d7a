/** Products whose operands come by tensor copies, from IR: the function, and its launch on the emulator. */
import { evaluate } from "../../../compiler/contract/expr.ts";
import { lowerEntry } from "../../../compiler/driver/lower_entry.ts";
import type { Func } from "../../../compiler/ir/func.ts";
import { loopOverPrograms } from "../../../compiler/ir/program_loop.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { tileElement } from "../../../compiler/ir/tensor_map.ts";
import { bytesOf } from "../../../compiler/ir/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import { TARGETS } from "../../../compiler/targets.ts";
import { encodeTensorMap } from "../../../emulator/async/tensor_map.ts";
import type { LaunchReport } from "../../../emulator/report.ts";
import { assert } from "../assert.ts";
import { type Argument, emulateAgain, int } from "../emulate.ts";
import { isMoved } from "./form_run.ts";
import { printEntry } from "../compiler/lowering.ts";
import { freshRandom } from "../random.ts";
import { decode, encode } from "../typed_arrays.ts";

export interface TensorProduct {
  /** Floats are multiplied as TF32. */
  readonly type: "float16" | "bfloat16" | "float32" | "int8" | "float8e4";
  /** Sums of short runs along k are added as floats. */
  readonly isApart?: true;
  readonly mb: number;
  readonly nb: number;
  readonly kb: number;
  readonly numWarps: number;
  readonly numStages: number;
  /** A is stored as K x M, B as N x K. */
  readonly transposed: { readonly a: boolean; readonly b: boolean };
  /** The sum is computed and added three times in a loop around the other one, or twice by two loops. */
  readonly loops?: "nested" | "two";
  /** The operand that threads load, in vectors; a box of a tensor if absent. */
  readonly gathered?: "a" | "b";
  /** What sums are before the loop; zero if absent. */
  readonly first?: 1;
  /** Rows of C begin and end at multiples of 16 bytes. */
  readonly isAligned?: true;
  /** Blocks of a launch whose blocks do several programs in turn; one for each program if absent. */
  readonly blocks?: number;
}

const sumOf = ({ type }: TensorProduct): "float32" | "int32" =>
  type === "int8" ? "int32" : "float32";

/** Operations that load a tile of an operand as threads gather one, `%TOa` or `%TOb`, from row `%TOk1` of the sum on. */
function gather(product: TensorProduct, to: string, name: "a" | "b"): string {
  const { type, mb, nb, kb, transposed } = product;
  const shape = name === "a" ? [mb, kb] : [kb, nb];
  const [k, other] = name === "a" ? [1, 0] : [0, 1];
  const isAlongK = name === "a" ? !transposed.a : transposed.b;
  const [inner, outer] = isAlongK ? [k, other] : [other, k];
  const tile = `[${shape.join(", ")}]`;
  const vectorOf = (axis: number): string => axis === k ? `%${to}rk` : name === "a" ? "%rm" : "%rn";
  const extentOf = (axis: number): string =>
    axis === inner ? `%ld${name}` : axis === k ? "%K" : name === "a" ? "%M" : "%N";
  const along = (axis: number): string => {
    const part = `[${shape.map((extent, at) => at === axis ? extent : 1).join(", ")}]`;
    const at = `%${to}${name}${axis}`;
    return `${at}i: int32${part} = expand_dims ${vectorOf(axis)} {axis = ${1 - axis}}
    ${at}l: int32${part} = splat ${extentOf(axis)}
    ${at}in: bool${part} = lt ${at}i, ${at}l
    ${at}is: bool${tile} = broadcast ${at}in
    ${axis === outer ? `${at}ld: int32${part} = splat %ld${name}` : ""}
    ${axis === outer ? `${at}m: int32${part} = mul ${at}i, ${at}ld` : ""}
    ${at}at: int32${tile} = broadcast ${at}${axis === outer ? "m" : "i"}`;
  };
  const pointer = `${type}*${tile}`;
  return `%${to}rk0: int32[${kb}] = splat %${to}k1
    %${to}rk1: int32[${kb}] = range 0
    %${to}rk: int32[${kb}] = add %${to}rk0, %${to}rk1
    ${along(0)}
    ${along(1)}
    %${to}${name}p0: ${pointer} = splat %${name.toUpperCase()}
    %${to}${name}p1: ${pointer} = offset %${to}${name}p0, %${to}${name}${outer}at
    %${to}${name}p: ${pointer} = offset %${to}${name}p1, %${to}${name}${inner}at
    %${to}${name}in: bool${tile} = and %${to}${name}0is, %${to}${name}1is
    %${to}${name}: ${type}${tile} = load %${to}${name}p, %${to}${name}in`;
}

/** C[M, N] += A[M, K] · B[K, N], one tile a block; C has the type of sums. */
function productFunc(product: TensorProduct): Func {
  const { type, mb, nb, kb, transposed, loops = "one", gathered, isAligned, isApart } = product;
  const [ofC, ofRows] = isAligned === true ? ["multipleof = 16, ", " {multipleof = 4}"] : ["", ""];
  const element = sumOf(product);
  const mode = isApart === true ? "f32acc" : type === "float32" ? "tf32" : "ieee";
  const sum = `${element}[${mb}, ${nb}]`;
  const loop = (from: string, to: string): string =>
    `%${to}: ${sum}, %end_${to}: int32 = while %${from}, %zero (%${to}0: ${sum}, %${to}k0: int32) {
    %${to}go: bool = lt %${to}k0, %K
    condition %${to}go, %${to}0, %${to}k0
  } (%${to}1: ${sum}, %${to}k1: int32) {
    ${
      gathered === "a"
        ? gather(product, to, "a")
        : `%${to}a: ${type}[${mb}, ${kb}] = tensor_load %A, ${
          transposed.a ? `%m0, %${to}k1` : `%${to}k1, %m0`
        } {map = 0}`
    }
    ${
      gathered === "b"
        ? gather(product, to, "b")
        : `%${to}b: ${type}[${kb}, ${nb}] = tensor_load %B, ${
          transposed.b ? `%${to}k1, %n0` : `%n0, %${to}k1`
        } {map = ${gathered === "a" ? 0 : 1}}`
    }
    %${to}2: ${sum} = dot %${to}a, %${to}b, %${to}1 {mode = "${mode}"}
    %${to}k2: int32 = add %${to}k1, %kb
    yield %${to}2, %${to}k2
  }`;
  const start = `${product.first ?? 0}${element === "int32" ? "" : ".0"}`;
  const first = `%first: ${sum} = constant ${start}`;
  const body = {
    one: loop("first", "sum"),
    two: `${loop("first", "half")}\n${loop("half", "sum")}`,
    nested: `%three: int32 = constant 3
  %one: int32 = constant 1
  %sum: ${sum}, %i3: int32 = while %first, %zero (%o0: ${sum}, %i0: int32) {
    %more: bool = lt %i0, %three
    condition %more, %o0, %i0
  } (%start: ${sum}, %i1: int32) {
    ${loop("start", "total")}
    %i2: int32 = add %i1, %one
    yield %total, %i2
  }`,
  }[loops];
  const map = (name: string, isTransposed: boolean, rows: string, columns: string): string => {
    const [first, second] = isTransposed ? [rows, columns] : [columns, rows];
    const axes = isTransposed ? [0, 1] : [1, 0];
    const stride = name === "A" ? "lda" : "ldb";
    return `map(${name} ${type === "float32" ? "tfloat32" : type} "${first}" "1" ${
      axes[0]
    }, "${second}" "${stride}" ${axes[1]})`;
  };
  const rows = `[${mb}, 1]`;
  const tile = `[${mb}, ${nb}]`;
  return parseFunc(
    `func @k(%A A: ${type}* {multipleof = 16, noalias}, %B B: ${type}* {multipleof = 16, noalias}, \
%C C: ${element}* {${ofC}noalias}, %M M: int32, %N N: int32${ofRows}, %K K: int32, %lda lda: int32 {multipleof = 8}, %ldb ldb: int32 {multipleof = 8}, \
%ldc ldc: int32${ofRows}) \
${gathered === "a" ? "" : map("A", transposed.a, "M", "K")} ${
      gathered === "b" ? "" : map("B", transposed.b, "K", "N")
    } {
  %pid: int32 = program_id 0
  %nb: int32 = constant ${nb}
  %mb: int32 = constant ${mb}
  %kb: int32 = constant ${kb}
  %zero: int32 = constant 0
  %last: int32 = constant ${nb - 1}
  %up: int32 = add %N, %last
  %tiles: int32 = div %up, %nb
  %row: int32 = div %pid, %tiles
  %m0: int32 = mul %row, %mb
  %column: int32 = rem %pid, %tiles
  %n0: int32 = mul %column, %nb
  %rm0: int32[${mb}] = splat %m0
  %rm1: int32[${mb}] = range 0
  %rm: int32[${mb}] = add %rm0, %rm1
  %rn0: int32[${nb}] = splat %n0
  %rn1: int32[${nb}] = range 0
  %rn: int32[${nb}] = add %rn0, %rn1
  ${first}
  ${body}
  %c0: ${element}*${rows} = splat %C
  %m: int32${rows} = expand_dims %rm {axis = 1}
  %ld: int32${rows} = splat %ldc
  %at: int32${rows} = mul %m, %ld
  %c1: ${element}*${rows} = offset %c0, %at
  %c2: ${element}*${tile} = broadcast %c1
  %n: int32[1, ${nb}] = expand_dims %rn {axis = 0}
  %ns: int32${tile} = broadcast %n
  %c: ${element}*${tile} = offset %c2, %ns
  %ms: int32${rows} = splat %M
  %inm: bool${rows} = lt %m, %ms
  %inm2: bool${tile} = broadcast %inm
  %nl: int32[1, ${nb}] = splat %N
  %inn: bool[1, ${nb}] = lt %n, %nl
  %inn2: bool${tile} = broadcast %inn
  %in: bool${tile} = and %inm2, %inn2
  store %c, %sum, %in
  return
}
`,
  );
}

/** A function after all passes, as PTX and as IR. */
export interface LoweredProduct {
  readonly func: Func;
  readonly ptx: string;
  readonly threads: number;
  readonly sharedBytes: number;
}

export function lowerProduct(product: TensorProduct): LoweredProduct {
  const { numWarps, numStages } = product;
  const { func, kernel, threads, sharedBytes } = lowerEntry(productFunc(product), {
    numWarps,
    numStages,
    symbol: "k",
    target: TARGETS.sm_90a,
    watch: { verify: true },
  });
  return { func, ptx: printEntry(kernel, "sm_90a"), threads, sharedBytes };
}

export interface Size {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** Launches a product with random operands and compares it with sums in double precision. */
export function runProduct(
  product: TensorProduct,
  { m, n, k }: Size,
  { func, ptx, threads, sharedBytes } = lowerProduct(product),
): LaunchReport {
  const { type, transposed, loops = "one", mb, nb, blocks, isAligned } = product;
  const times = { one: 1, two: 2, nested: 3 }[loops];
  const units = 16 / bytesOf(type);
  const whole = (extent: number): number => Math.max(1, Math.ceil(extent / units)) * units;
  const [lda, ldb] = [whole(transposed.a ? m : k), whole(transposed.b ? k : n)];
  const random = freshRandom();
  const sums = sumOf(product);
  const value = (): number | bigint =>
    type === "int8" ? BigInt(random.below(256) - 128) : (random.below(512) - 256) / 256;
  const values = (rows: number, stride: number): Uint8Array =>
    encode(type, Array.from({ length: rows * stride }, value));
  const a = values(Math.max(1, transposed.a ? k : m), lda);
  const b = values(Math.max(1, transposed.b ? n : k), ldb);
  assert(isAligned !== true || n % 4 === 0, "rows end between vectors");
  const c = encode(sums, new Array<number | bigint>(m * n).fill(sums === "int32" ? 77n : 77));
  const scalars: Readonly<Record<string, number>> = { M: m, N: n, K: k, lda, ldb, ldc: n };
  const maps = func.maps.map(({ param, element, axes, copied }): Argument => ({
    encode: (addresses) => {
      const value = ({ extent, stride }: (typeof axes)[number]): readonly [number, number] => [
        // No dimension of a tensor is empty.
        Math.max(1, Number(evaluate(extent, { param: (name) => scalars[name] }))),
        Number(evaluate(stride, { param: (name) => scalars[name] })) *
        bytesOf(tileElement(element)),
      ];
      const evaluated = axes.map(value);
      const { box, swizzle } = must(copied, "box");
      return encodeTensorMap({
        type: isMoved(element) ? "uint8" : element,
        address: must(addresses[func.params.findIndex(({ name }) => name === param)], "address"),
        extents: evaluated.map(([extent]) => extent),
        strides: evaluated.slice(1).map(([, stride]) => stride),
        box,
        elementStrides: axes.map(() => 1),
        interleave: "none",
        swizzle: swizzle === 0 ? "none" : `${swizzle}B`,
        promotion: "128B",
        fill: "zero",
      });
    },
  }));
  const programs = Math.ceil(m / mb) * Math.ceil(n / nb);
  const isPersistent = loopOverPrograms(func) !== undefined;
  assert(isPersistent || blocks === undefined, "each program has a block");
  const report = emulateAgain(ptx, {
    grid: [blocks ?? programs, 1, 1],
    block: [threads, 1, 1],
    sharedBytes,
    args: [
      ...[a, b, c],
      ...[m, n, k, lda, ldb, n].map(int),
      ...maps,
      ...isPersistent ? [int(programs)] : [],
    ],
    profile: true,
    budget: 1_000_000_000,
  });
  const [x, y, z] = [decode(type, a), decode(type, b), decode(sums, c)].map((list) =>
    list.map(Number)
  );
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum: number = product.first ?? 0;
      let magnitude = sum;
      for (let q = 0; q < k; q++) {
        const one = (x?.[transposed.a ? q * lda + i : i * lda + q] ?? NaN) *
          (y?.[transposed.b ? j * ldb + q : q * ldb + j] ?? NaN);
        sum += times * one;
        magnitude += times * Math.abs(one);
      }
      const found = z?.[i * n + j] ?? NaN;
      assert(
        Math.abs(found - sum) <= (times * k + 1) * 2 ** -24 * magnitude,
        `${JSON.stringify({ product, m, n, k })} [${i}, ${j}]: ${found} instead of ${sum}`,
      );
    }
  }
  return report;
}
