/** Reads barriers: `bar.sync 1, 64`, `barrier.red.popc.u32 …`, `barrier.cluster.wait`. */
import type { Match } from "../../compiler/ptx/match.ts";
import type { HandlerContext } from "../machine.ts";
import type { BarrierStep } from "./program.ts";

/** What an instruction of `BARRIERS` does. */
export function barrierStep(match: Match, context: HandlerContext): BarrierStep {
  const { opcode, form: { form }, bound } = match;
  // `bar` is `barrier.aligned`.
  const aligned = opcode.startsWith("bar.") || opcode === "bar" || bound.has("aligned");
  const none = { aligned, id: undefined, count: undefined };
  if (opcode === "barrier.cluster.arrive") return { kind: "cluster arrive", ...none };
  if (opcode === "barrier.cluster.wait") return { kind: "cluster wait", ...none };
  const operand = (name: string): Match["operands"][number] | undefined =>
    match.operands.find((each) => each.name === name);
  const row = (name: string): number | undefined => {
    const found = operand(name);
    return found === undefined ? undefined : context.row(found.operand, "u32");
  };
  const fields = { aligned, id: row("a"), count: row("b") };
  if (form.startsWith(".arrive")) return { kind: "arrive", ...fields };
  const [target, predicate] = [operand("d"), operand("c")];
  if (target === undefined || predicate === undefined) return { kind: "sync", ...fields };
  const isCount = form.startsWith(".red.popc");
  const truth = bound.get("and|or");
  return {
    kind: "reduce",
    ...fields,
    reduction: {
      operation: isCount ? "popc" : truth === "or" ? "or" : "and",
      predicate: context.predicate(predicate.operand),
      result: context.row(target.operand, isCount ? "u32" : "pred"),
    },
  };
}
