/** Dots of loops by warp groups: which are done so, and what comes out, on the emulator with all of its checks. */
import { walkOps } from "../../../../compiler/ir/walk.ts";
import fc, { powersOfTwo } from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { lowerGeneral, opsNamed } from "../../../support/compiler/lowering.ts";
import { checkProduct, PRODUCTS, spelled } from "../../../support/kernels/product_run.ts";
import { parseFunc } from "../../../../compiler/ir/parse.ts";
import { printFunc } from "../../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../../compiler/ir/verify.ts";
import { must } from "../../../../compiler/support/bug.ts";

const test = testsInTurn(2);

interface Loop {
  readonly type: "half" | "bfloat16" | "float" | "int8" | "uint8" | "float8e4" | "float8e5";
  readonly mb: number;
  readonly nb: number;
  readonly kb: number;
  readonly numWarps: number;
  readonly numStages: number;
  /** A is stored as K x M, B as N x K. */
  readonly transposed: { readonly a: boolean; readonly b: boolean };
  /** Nothing is promised about addresses and distances of rows. */
  readonly unaligned?: boolean;
  /** The statement that multiplies. */
  readonly body?: string;
  /** Statements before the loop. */
  readonly before?: string;
}

const SUMS: Partial<Record<Loop["type"], string>> = { int8: "int", uint8: "int" };
const BYTES: Partial<Record<Loop["type"], number>> = { half: 2, bfloat16: 2, float: 4 };
/** Elements of 16 bytes. */
const unitsOf = (type: Loop["type"]): number => 16 / (BYTES[type] ?? 1);
/** Both operands are rounded to 11 bits. */
const TF32_ERROR = 2 ** -10;
const TF32 = 'acc = dot(a, b, acc, "tf32");';

function textOf(loop: Loop): string {
  const { type, mb, nb, kb, numWarps, numStages, transposed } = loop;
  const sum = SUMS[type] ?? "float";
  const units = unitsOf(type);
  const whole = loop.unaligned === true ? "" : `__multipleof(${units})`;
  const start = loop.unaligned === true ? "" : "__aligned(16)";
  const a = transposed.a
    ? "rm[:, newaxis] + rk[newaxis, :] * lda"
    : "rm[:, newaxis] * lda + rk[newaxis, :]";
  const b = transposed.b
    ? "rk[:, newaxis] + rn[newaxis, :] * ldb"
    : "rk[:, newaxis] * ldb + rn[newaxis, :]";
  return `#pragma tri kernel k
#pragma tri config ; num_warps=${numWarps}, num_stages=${numStages}
__global__ void k(${type} *A __noalias ${start}, ${type} *B __noalias ${start}, ${sum} *C __noalias,
                  int M ${whole}, int N ${whole}, int K ${whole}, int lda ${whole}, int ldb ${whole}, int ldc) {
  int pid = get_program_id(0);
  int tiles = (N + ${nb} - 1) / ${nb};
  int rm[${mb}] = pid / tiles * ${mb} + 0 ... ${mb};
  int rn[${nb}] = pid % tiles * ${nb} + 0 ... ${nb};
  int rk[${kb}] = 0 ... ${kb};
  ${type} *pa[${mb}, ${kb}] = A + ${a};
  ${type} *pb[${kb}, ${nb}] = B + ${b};
  ${sum} acc[${mb}, ${nb}] = 0;
  ${loop.before ?? ""}
  for (int k = K; k > 0; k -= ${kb}) {
    ${type} a[${mb}, ${kb}] = *?(rm[:, newaxis] < M && rk[newaxis, :] < k) pa;
    ${type} b[${kb}, ${nb}] = *?(rk[:, newaxis] < k && rn[newaxis, :] < N) pb;
    ${loop.body ?? "acc += a @ b;"}
    pa += ${kb}${transposed.a ? " * lda" : ""};
    pb += ${kb}${transposed.b ? "" : " * ldb"};
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * ldc + rn[newaxis, :]) = acc;
}
`;
}

const PLAIN: Loop = {
  type: "half",
  mb: 64,
  nb: 128,
  kb: 64,
  numWarps: 4,
  numStages: 4,
  transposed: { a: false, b: false },
};

const typesOf = (type: string): (typeof PRODUCTS)[number] =>
  must(PRODUCTS.find(({ a, b }) => spelled(a) === type && a === b), type);

type Size = Omit<Parameters<typeof checkProduct>[1], "transposed">;

/** Compares a product of the loop with the reference; `more`: what is not as the loop says. */
function checkLoop(
  loop: Loop,
  size: Size,
  more: { readonly text?: string; readonly error?: number | undefined } = {},
): ReturnType<typeof checkProduct> {
  const known = typesOf(loop.type);
  const { text = textOf(loop), error = known.error } = more;
  return checkProduct(
    { text, target: "sm_90a", types: { ...known, error }, tile: [loop.mb, loop.nb] },
    { ...size, transposed: loop.transposed },
  );
}

/** That loops preserve products whose rows begin at multiples of 16 bytes, of at most so many. */
function assertPreserved(
  loops: fc.Arbitrary<Loop>,
  most: { readonly rows: number; readonly k: number },
  error: (loop: Loop) => number | undefined = () => undefined,
): void {
  const anySize = fc.record({
    m: fc.integer({ min: 1, max: most.rows }),
    n: fc.integer({ min: 1, max: most.rows }),
    k: fc.integer({ min: 0, max: most.k }),
    gap: fc.nat(2),
  });
  fc.assert(
    fc.property(loops, anySize, (loop, { m, n, k, gap }) => {
      const units = unitsOf(loop.type);
      const size = { m: units * m, n: units * n, k: units * k, gap: units * gap };
      checkLoop(loop, size, { error: error(loop) });
    }),
    { numRuns: 4 },
  );
}

const anyLoop: fc.Arbitrary<Loop> = fc.record({
  type: fc.constantFrom("half" as const, "bfloat16" as const),
  mb: powersOfTwo(6, 8),
  nb: powersOfTwo(6, 8),
  kb: powersOfTwo(4, 6),
  numWarps: fc.constantFrom(4, 8),
  numStages: fc.integer({ min: 3, max: 5 }),
  transposed: fc.record({ a: fc.boolean(), b: fc.boolean() }),
});

Deno.test("pipelineGroupDot() preserves dots of any size, stored in either order", () => {
  // The whole result is exchanged through shared memory before its store.
  assertPreserved(anyLoop.filter(({ mb, nb }) => mb * nb <= 128 * 256), { rows: 20, k: 30 });
});

Deno.test("pipelineStoredDot() preserves dots of any size whose rows are not aligned", () => {
  const anySize = fc.record({
    m: fc.integer({ min: 1, max: 200 }),
    n: fc.integer({ min: 1, max: 200 }),
    k: fc.integer({ min: 0, max: 200 }),
    gap: fc.nat(3),
  });
  const anyUnaligned = anyLoop.map((loop): Loop => ({
    ...loop,
    nb: Math.min(loop.nb, 128),
    unaligned: true,
  }));
  fc.assert(
    fc.property(anyUnaligned, anySize, (loop, size) => {
      assertEquals(groupDots(loop), loop.nb * loop.mb < 64 * 64 * loop.numWarps / 4 ? 0 : 1);
      checkLoop(loop, size);
    }),
    { numRuns: 4 },
  );
});

test("pipelineStoredDot() stores words, without bank conflicts where rows are copied along lanes", () => {
  const loop: Loop = { ...PLAIN, unaligned: true };
  const { laidOut } = lowerGeneral(textOf(loop), "sm_90a");
  assertEquals(opsNamed(laidOut, "async_copy").length, 0);
  // Before the loop and in it, for both operands.
  assertEquals(opsNamed(laidOut, "local_store").length, 4);
  const conflicts = (k: number): number =>
    checkLoop(loop, { m: 63, n: 127, k }).access.bankConflicts;
  // Those of the result's exchange alone.
  assertEquals(conflicts(190), conflicts(0));
});

const ends = (part: string): string => part.endsWith(")") ? ")" : "";

/** Blocks of these loops fill a multiprocessor. */
const FILLING: readonly Pick<Loop, "mb" | "nb" | "kb" | "numWarps">[] = [
  { mb: 256, nb: 128, kb: 32, numWarps: 16 },
  { mb: 128, nb: 256, kb: 32, numWarps: 8 },
  { mb: 256, nb: 128, kb: 16, numWarps: 8 },
  { mb: 64, nb: 256, kb: 64, numWarps: 8 },
];

const copiedRows = (loop: Loop): boolean[] =>
  opsNamed(lowerGeneral(textOf(loop), "sm_90a").laidOut, "copy_rows").flatMap(({ attrs }) =>
    "continued" in attrs ? attrs.continued === true : []
  );

Deno.test("pipelineChunkedDot() preserves dots of any size whose rows are not aligned", () => {
  const anyFilling: fc.Arbitrary<Loop> = fc.record({
    tile: fc.constantFrom(...FILLING),
    type: fc.constantFrom("half" as const, "bfloat16" as const),
    numStages: fc.integer({ min: 3, max: 5 }),
    transposed: fc.record({ a: fc.boolean(), b: fc.boolean() }),
  }).map(({ tile, ...loop }) => ({ ...tile, ...loop, unaligned: true }));
  const anySize = fc.record({
    m: fc.integer({ min: 1, max: 140 }),
    n: fc.integer({ min: 1, max: 140 }),
    k: fc.integer({ min: 0, max: 330 }),
    gap: fc.nat(9),
  });
  fc.assert(
    fc.property(anyFilling, anySize, fc.boolean(), (loop, anyK, isWhole) => {
      const size = isWhole ? { ...anyK, k: anyK.k - anyK.k % loop.kb } : anyK;
      // Where K is a multiple of the tile's, masks need not say where it ends.
      const text = isWhole
        ? textOf(loop).replace(/ && rk.* < k\)|rk.* < k && /g, ends)
        : textOf(loop);
      // Rows along k go on from one iteration to the next.
      const along = [!loop.transposed.a, loop.transposed.b];
      const copied = copiedRows(loop);
      if (copied.length > 0) assertEquals(new Set(copied), new Set(along));
      checkLoop(loop, size, { text });
    }),
    { numRuns: 3 },
  );
});

test("planChunkedDot() takes rows that start anywhere where a block fills a multiprocessor", () => {
  const [tile] = FILLING;
  const loop: Loop = { ...PLAIN, ...tile, unaligned: true };
  // Before the loop, four iterations of both operands, and in it.
  assertEquals(copiedRows(loop).length, 10);
  assertEquals(copiedRows({ ...loop, unaligned: false }), []);
  assertEquals(copiedRows({ ...PLAIN, unaligned: true }), []);
  // Six slots of operands and four of chunks would take 240 kB.
  assertEquals(copiedRows({ ...loop, mb: 128, kb: 64 }), []);
  // Rows that end elsewhere in each iteration, or go on by more than a tile, do not go on from one iteration to the next.
  const text = textOf(loop);
  const changed = text.replace("pa += 32;", "pa += 64;");
  assert(changed !== text);
  const copies = opsNamed(lowerGeneral(changed, "sm_90a").laidOut, "copy_rows");
  assertEquals(
    copies.map(({ attrs }) => "continued" in attrs && attrs.continued).includes(true),
    false,
  );
});

const groupDots = (loop: Loop, target: "sm_90" | "sm_90a" = "sm_90a"): number =>
  opsNamed(lowerGeneral(textOf(loop), target).laidOut, "warp_group_dot").length;

Deno.test("planGroupDot() takes the dot of a loop with both operands from memory, on targets with wgmma", () => {
  assertEquals(groupDots(PLAIN), 1);
  assertEquals(groupDots({ ...PLAIN, type: "bfloat16" }), 1);
  assertEquals(groupDots(PLAIN, "sm_90"), 0);
});

test("planGroupDot() leaves what warp groups cannot do to mma, with the same result", () => {
  const cases: readonly Loop[] = [
    { ...PLAIN, mb: 32 },
    { ...PLAIN, numWarps: 2 },
    { ...PLAIN, numStages: 2 },
    { ...PLAIN, type: "float", kb: 16, nb: 64, transposed: { a: false, b: true } },
    // Both operands lie across k; only one may come from registers.
    { ...PLAIN, type: "float", kb: 16, nb: 64, body: TF32, transposed: { a: true, b: false } },
    { ...PLAIN, type: "int8", transposed: { a: true, b: false } },
    // The sum is used in the loop, or the dot is not all that is added to it.
    { ...PLAIN, body: "acc += a @ b; acc = max(acc, -1.0e30f);" },
    { ...PLAIN, body: "float d[64, 128] = a @ b; acc += d + d - d;" },
    // Two sums take turns.
    {
      ...PLAIN,
      before: "float other[64, 128] = 0; int count = 0;",
      body: "float next[64, 128] = acc + a @ b; acc = other; other = next; " +
        "if (++count * 64 >= K) acc += other;",
    },
  ];
  for (const loop of cases) assertEquals(groupDots(loop), 0, JSON.stringify(loop));
  for (const loop of sampled(cases, 1)) {
    // Sums that are added one after the other have more roundings than the bound allows for one.
    const error = loop.body === TF32 ? TF32_ERROR : 4 * typesOf(loop.type).error;
    checkLoop(loop, { m: 80, n: 144, k: 176 }, { error });
  }
});

/** Types of which the instruction takes operands that lie along k only. */
const ALONG_K = ["float", "int8", "uint8", "float8e4", "float8e5"] as const;

Deno.test("pipelineGroupDot() preserves dots of 1- and 4-byte types that lie along k, or one of them across it", () => {
  const anyAlongK: fc.Arbitrary<Loop> = fc.record({
    type: fc.constantFrom(...ALONG_K),
    mb: powersOfTwo(6, 7),
    nb: powersOfTwo(6, 7),
    kb: powersOfTwo(5, 7),
    numWarps: fc.constantFrom(4, 8),
    numStages: fc.integer({ min: 3, max: 4 }),
    transposed: fc.constantFrom(
      { a: false, b: true },
      { a: false, b: false },
      { a: true, b: true },
    ),
  }).map((loop) => loop.type === "float" ? { ...loop, kb: loop.kb / 2, body: TF32 } : loop);
  const planned = anyAlongK.map((loop) => {
    // Each group has 64 columns.
    assertEquals(groupDots(loop), loop.mb * loop.nb < 64 * 64 * loop.numWarps / 4 ? 0 : 1);
    return loop;
  });
  const error = ({ body }: Loop): number | undefined => body === TF32 ? TF32_ERROR : undefined;
  assertPreserved(planned, { rows: 10, k: 20 }, error);
});

Deno.test("pipelineGroupDot() adds partial sums of float8 separately where the program says so", () => {
  const anyApart: fc.Arbitrary<Loop> = fc.record({
    type: fc.constantFrom("float8e4", "float8e5"),
    mb: powersOfTwo(6, 7),
    nb: powersOfTwo(6, 8),
    kb: powersOfTwo(5, 8),
    numWarps: fc.constantFrom(4, 8),
    numStages: fc.integer({ min: 3, max: 4 }),
    transposed: fc.constant({ a: false, b: true }),
    body: fc.constant('acc = dot(a, b, acc, "f32acc");'),
  });
  assertPreserved(anyApart, { rows: 10, k: 40 });
  const { laidOut } = lowerGeneral(
    textOf({
      ...PLAIN,
      type: "float8e4",
      kb: 128,
      transposed: { a: false, b: true },
      body: 'acc = dot(a, b, acc, "f32acc");',
    }),
    "sm_90a",
  );
  const apart = opsNamed(laidOut, "warp_group_dot").map(({ attrs }) =>
    "apart" in attrs && attrs.apart
  );
  assertEquals(apart, [true]);
  // The copies of another iteration are started while a part of the dot is under way.
  const steps: string[] = [];
  walkOps(laidOut.body, ({ name }) => {
    if (["warp_group_dot", "async_copy", "finish_dot"].includes(name)) steps.push(name);
  });
  assertEquals(steps.slice(steps.indexOf("warp_group_dot")), [
    "warp_group_dot",
    "async_copy",
    "async_copy",
    "finish_dot",
  ]);
});

test("pipelineGroupDot() has no bank conflicts, whichever way operands are stored", () => {
  const ways = [false, true].flatMap((a) => [false, true].map((b) => ({ a, b })));
  for (const transposed of sampled(ways, 1)) {
    const { access } = checkLoop({ ...PLAIN, transposed }, { m: 64, n: 128, k: 192 });
    assertEquals(access.bankConflicts, 0, JSON.stringify(transposed));
  }
});

test("pipelineGroupDot() makes functions that print, are read back as they are, and are valid", () => {
  const printed = printFunc(lowerGeneral(textOf(PLAIN), "sm_90a").laidOut);
  assert(printed.includes("warp_group_dot"));
  const read = parseFunc(printed);
  verifyFunc(read);
  assertEquals(printFunc(read), printed);
});

test("pipelineGroupDot() waits for a dot that is under way once an iteration, for all after the loop", () => {
  const { laidOut } = lowerGeneral(textOf(PLAIN), "sm_90a");
  const pendings = opsNamed(laidOut, "wait_dots").map(({ attrs }) => attrs);
  assertEquals(pendings, [{ pending: 1 }, { pending: 0 }]);
});
