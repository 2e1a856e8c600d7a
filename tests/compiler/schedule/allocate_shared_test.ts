/** Addresses of exchanges in shared memory, and the barriers before them. */
import { assert, assertEquals } from "../../support/assert.ts";
import { lowerGeneral, opsNamed } from "../../support/compiler/lowering.ts";
import { type Func, isOp } from "../../../compiler/ir/func.ts";
import { isExchange } from "../../../compiler/layout/exchanges.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { walkOps } from "../../../compiler/ir/walk.ts";
import { allocateShared } from "../../../compiler/schedule/allocate_shared.ts";

/** A function over a tile of two warps, with addresses. */
function allocated(body: string): Func {
  const func = parseFunc(`\
#l0 = [64] register() lane(a0 a1 a2 a3 a4) warp(a5)
#l1 = [64] register() lane(a1 a2 a3 a4 a5) warp(a0)
#l2 = [64] register() lane(a4 a3 a2 a1 a0) warp(a5)
#s0 = [64] offset(a0 a1 a2 a3 a4 a5) vector(1)
func @f(%0: float32, %1: bool) {
  %2: float32[64] #l0 = splat %0
${body}
  return
}
`);
  allocateShared.run(func);
  verifyFunc(func);
  return func;
}

/** The address of each exchange, with a `|` where it begins with a barrier. */
function addresses(func: Func): string {
  const spelled: string[] = [];
  walkOps(func.body, (op) => {
    if (!isExchange(op) || op.attrs.address === undefined) return;
    spelled.push(`${op.attrs.barrier === true ? "| " : ""}${op.attrs.address}`);
  });
  return `${spelled.join(" ")} of ${func.sharedBytes}`;
}

const reduce = (value: number): string =>
  `%${value}: float32 = reduce %2 {axis = 0, operator = "add"}`;
const convert = (value: number): string => `%${value}: float32[64] #l1 = convert_layout %2`;

Deno.test("allocateShared puts reductions in a row beside each other, without barriers before", () => {
  // The third one reuses the address of the first, which all threads have read.
  assertEquals(
    addresses(allocated([reduce(10), reduce(11), reduce(12)].join("\n"))),
    "0 16 0 of 24",
  );
});

Deno.test("allocateShared waits before an exchange over what may still be read", () => {
  assertEquals(addresses(allocated([convert(10), convert(11)].join("\n"))), "0 | 0 of 256");
  assertEquals(
    addresses(allocated([convert(10), reduce(11), convert(12)].join("\n"))),
    "0 | 0 | 0 of 256",
  );
});

Deno.test("allocateShared gives exchanges within warps memory of their own beside buffers that nothing overlays", () => {
  const buffer =
    "%5: float32[64] shared #s0 = shared_buffer {slots = 1, slot_bytes = 256, offset = 0, exclusive = true}";
  const within = (value: number): string => `%${value}: float32[64] #l2 = convert_layout %2`;
  const read =
    '%6: int32 = constant 0\n%7: float32[64] #l0 = local_load %5, %6 {access = "vectors"}';
  const found = (...ops: string[]): string =>
    addresses(allocated([buffer, read, ...ops].join("\n")));
  assertEquals(found(within(10), within(11)), "0 256 of 768");
  // One that goes across warps has the others wait, too.
  assertEquals(found(within(10), convert(11)), "0 | 0 of 512");
});

Deno.test("allocateShared joins what branches leave", () => {
  const branches = (yes: string, no: string): string =>
    `if %1 {\n${yes}\nyield\n} {\n${no}\nyield\n}\n${reduce(20)}`;
  assertEquals(addresses(allocated(branches(reduce(10), reduce(11)))), "0 0 16 of 24");
  assertEquals(addresses(allocated(branches(reduce(10), ""))), "0 | 0 of 8");
});

Deno.test("allocateShared waits in a loop for the iteration before, and after the loop", () => {
  const loop = `while {\ncondition %1\n} {\n${reduce(10)}\nyield\n}\n${reduce(11)}`;
  assertEquals(addresses(allocated(loop)), "| 0 | 0 of 8");
});

Deno.test("allocateShared() gives operations of a rotated loop's test one address", () => {
  const loop = `while {
${reduce(10)}
%20: bool = lt %10, %0
condition %20
} {
${reduce(11)}
yield
}`;
  assertEquals(addresses(allocated(loop)), "| 0 16 of 24");
});

Deno.test("allocateShared makes functions that print and are read back as they are", () => {
  const printed = printFunc(allocated([reduce(10), convert(11)].join("\n")));
  assert(printed.includes("shared(256)") && printed.includes("barrier = true"));
  assertEquals(printFunc(parseFunc(printed)), printed);
});

Deno.test("stageOperands prefetches nothing where the ring and the exchanges do not fit together", () => {
  const slotsOf = (inLoop: string): unknown[] => {
    const text = `#pragma tri kernel k
#pragma tri config ; num_warps=8
#pragma tri specialize(off)
__global__ void k(half *A __noalias __aligned(16), half *B __noalias __aligned(16),
                  float *C __noalias __aligned(16), int K) {
  int rm[128] = 0 ... 128; int rn[128] = 0 ... 128; int rk[64] = 0 ... 64;
  half *pa[128, 64] = A + rm[:, newaxis] * 64 + rk[newaxis, :];
  half *pb[64, 128] = B + rk[:, newaxis] * 128 + rn[newaxis, :];
  float c[128, 128] = 0; float s[128] = 0;
  for (int k = 0; k < K; k += 64) { c += *pa @ *pb; ${inLoop} pa += 8192; pb += 8192; }
  *(C + rm[:, newaxis] * 128 + rn[newaxis, :]) = c;
  *(C + 16384 + rn) = s;
}`;
    return opsNamed(lowerGeneral(text, "sm_75").laidOut, "shared_buffer")
      .map((op) => isOp(op, "shared_buffer") ? op.attrs.slots : 0);
  };
  // Two slots of 32 KiB are all that a block has.
  assertEquals(slotsOf(""), [2, 2]);
  assertEquals(slotsOf("s += sum(c, 0);"), [1, 1]);
});
