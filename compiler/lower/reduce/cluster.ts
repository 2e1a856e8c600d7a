/** How the blocks of a program begin: with the barriers that reductions over several blocks wait at. */
import type { Func, OpOf } from "../../ir/func.ts";
import { walkOps } from "../../ir/walk.ts";
import { crossesBlocks, exchangeBytes } from "../../layout/exchanges.ts";
import { threadInBlock } from "../addresses.ts";
import type { LowerContext } from "../context.ts";
import { int } from "../emitter.ts";
import { exchangeAddress, sharedStart } from "../memory/shared.ts";

/**
 * Makes a barrier for each such reduction and says that the block is there. A block waits for that before it sends to another
 * one (`meet` of memory/shared.ts), so the loads in between are under way meanwhile.
 */
export function beginTogether(cx: LowerContext, func: Func): void {
  const reductions: OpOf<"reduce">[] = [];
  walkOps(func.body, (op) => {
    if (op.name === "reduce" && crossesBlocks(op)) reductions.push(op);
  });
  if (reductions.length === 0) return;
  const e = cx.emitter;
  const isFirst = e.pure("setp.eq.s32", "pred", [threadInBlock(cx), int(0)]);
  const guard = isFirst.kind === "register" ? { register: isFirst, negated: false } : undefined;
  for (const op of reductions) {
    const address = BigInt(exchangeAddress(op));
    const { alternates = false, barrier = false } = op.attrs;
    const others = alternates ? [BigInt(exchangeBytes(op) / 2)] : [];
    for (const further of [0n, ...others]) {
      const at = e.address(sharedStart(cx), address + further);
      e.emit("mbarrier.init.shared::cta.b64", [at, int(1)], guard);
    }
    if (!barrier && !alternates) continue;
    // It is done several times, at phases of either parity: how often so far.
    const phase = e.register("b32");
    e.emit("mov.b32", [phase, int(0)]);
    cx.remote.phases.set(op, phase);
  }
  e.emit("fence.mbarrier_init.release.cluster", []);
  e.emit("barrier.cluster.arrive.relaxed.aligned", []);
  cx.remote.isMeeting = true;
}
