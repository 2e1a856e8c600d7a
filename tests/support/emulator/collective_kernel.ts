/**
 * A kernel of instructions that lanes of a warp carry out together: `collective(in, out, n)`. Thread i has a, b, c and
 * d, 64 bits each, in columns; the d of a warp's first thread is the membermask of the warp. Each instruction leaves a
 * column of 64 bits: its 32-bit result, and above it the predicate if it has one. Lanes that take no part leave zeros.
 */

/** Instructions on the low words ra, rb, rc, all of a in qa, a predicate p of it, and the membermask m. */
export const COLLECTIVE_INSTRUCTIONS: readonly string[] = [
  ...["up", "down", "bfly", "idx"].map((mode) =>
    `shfl.sync.${mode}.b32 %d|%dp, %ra, %rb, %rc, %m;`
  ),
  // Without segments, as almost all programs shuffle.
  "shfl.sync.up.b32 %d|%dp, %ra, %rb, 0, %m;",
  ...["down", "bfly", "idx"].map((mode) => `shfl.sync.${mode}.b32 %d|%dp, %ra, %rb, 31, %m;`),
  ...["all", "any", "uni"].map((mode) => `vote.sync.${mode}.pred %dp, %p, %m;`),
  "vote.sync.any.pred %dp, !%p, %m;",
  "vote.sync.ballot.b32 %d, %p, %m;",
  "match.any.sync.b32 %d, %small, %m;",
  "match.any.sync.b64 %d, %qsmall, %m;",
  "match.all.sync.b32 %d|%dp, %small, %m;",
  "match.all.sync.b64 %d|%dp, %qsame, %m;",
  ...["add", "min", "max"].flatMap((operation) =>
    ["u32", "s32"].map((type) => `redux.sync.${operation}.${type} %d, %ra, %m;`)
  ),
  ...["and", "or", "xor"].map((operation) => `redux.sync.${operation}.b32 %d, %ra, %m;`),
  "elect.sync %d|%dp, %m;",
  "activemask.b32 %d;",
];

export const SOURCE_COLUMNS = 4;

/** The text of the module. */
export function collectiveModule(): string {
  const load = (register: string, column: number): string[] => [
    `mad.wide.u32 %at, %count, ${8 * column}, %in;`,
    "mad.wide.u32 %at, %i, 8, %at;",
    `ld.global.b64 ${register}, [%at];`,
  ];
  const lines = [
    ".reg .pred %done, %part, %p, %dp;",
    ".reg .b32 %i, %block, %threads, %count, %word, %lane, %ra, %rb, %rc, %m, %small, %d;",
    ".reg .b64 %in, %out, %at, %qa, %qb, %qc, %qd, %qsmall, %qsame, %result;",
    "mov.u32 %block, %ctaid.x;",
    "mov.u32 %threads, %ntid.x;",
    "mov.u32 %i, %tid.x;",
    "mad.lo.u32 %i, %block, %threads, %i;",
    "ld.param.u32 %count, [n];",
    "setp.ge.u32 %done, %i, %count;",
    "@%done exit;",
    "ld.param.u64 %in, [in];",
    "ld.param.u64 %out, [out];",
    ...load("%qa", 0),
    ...load("%qb", 1),
    ...load("%qc", 2),
    "cvt.u32.u64 %ra, %qa;",
    "cvt.u32.u64 %rb, %qb;",
    "cvt.u32.u64 %rc, %qc;",
    // Values of which some are equal, and of which all often are.
    "and.b32 %small, %ra, 3;",
    "and.b64 %qsmall, %qa, 0x100000001;",
    "and.b64 %qsame, %qa, %qb;",
    "and.b64 %qsame, %qsame, 0x100000000000000;",
    "and.b32 %word, %ra, 7;",
    "setp.ne.u32 %p, %word, 0;",
    "mov.u32 %lane, %laneid;",
    "sub.u32 %i, %i, %lane;",
    ...load("%qd", 3),
    "add.u32 %i, %i, %lane;",
    "cvt.u32.u64 %m, %qd;",
    "shr.u32 %word, %m, %lane;",
    "and.b32 %word, %word, 1;",
    "setp.eq.u32 %part, %word, 0;",
    "@%part exit;",
    ...COLLECTIVE_INSTRUCTIONS.flatMap((instruction, k) => [
      "mov.u32 %d, 0;",
      "setp.ne.u32 %dp, 0, 0;",
      instruction,
      "selp.u32 %word, 1, 0, %dp;",
      "mov.b64 %result, {%d, %word};",
      `mad.wide.u32 %at, %count, ${8 * k}, %out;`,
      "mad.wide.u32 %at, %i, 8, %at;",
      "st.global.b64 [%at], %result;",
    ]),
    "exit;",
  ];
  return [
    ".version 8.0",
    ".target sm_90",
    ".address_size 64",
    ".visible .entry collective(.param .u64 in, .param .u64 out, .param .u32 n)",
    "{",
    ...lines.map((line) => `  ${line}`),
    "}",
    "",
  ].join("\n");
}
