/**
 * Lets an entry be started before the grids that are before it in its stream have ended (programmatic dependent launch):
 * its threads wait for them and for all that they write before they access global memory. What computes addresses and
 * initialises barriers before that runs while the earlier grid ends.
 *
 * Every thread waits, also one that has nothing to do: a grid that ended without waiting would let the one after it
 * begin before the one before it has ended. No entry says when its dependents may be started
 * (`griddepcontrol.launch_dependents`): they are when its last block ends. Earlier, their blocks would lie beside its own,
 * more of them where it has none (tests/gpu/results/host.md).
 */
import { CHECK_BEGIN } from "./checks.ts";
import type { Instruction, Item } from "./func.ts";
import { findRow } from "./match.ts";
import { perSpelling } from "./per_spelling.ts";

const WAIT: Instruction = {
  kind: "instruction",
  opcode: "griddepcontrol",
  modifiers: ["wait"],
  operands: [],
};

/** Spaces that other grids do not write to. */
const OWN_SPACES = /^(?:param|const|local|shared(?:::(?:cta|cluster))?)$/;

/** Whether an instruction may access global memory, end the thread, or go to code that may. */
function isBound(opcode: string, modifiers: readonly string[]): boolean {
  const found = findRow(opcode, modifiers);
  if (found === undefined) return true;
  const { row: { effect }, opcode: name } = found;
  if (effect === "control") return name !== "bra";
  if (name.startsWith("prefetch") || name.startsWith("cp.async.bulk.prefetch")) {
    return !modifiers.includes("tensormap");
  }
  if (effect !== "read" && effect !== "write") return false;
  return modifiers.includes("global") || !modifiers.some((modifier) => OWN_SPACES.test(modifier));
}

/** Items that some threads skip or repeat: what is inserted behind `from` and not behind `to` is among them. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** What forward branches skip, and what backward branches repeat. */
function stretches(body: readonly Item[]): Stretch[] {
  const labels = new Map<string, number>();
  body.forEach((item, index) => {
    if (item.kind === "label") labels.set(item.name, index);
  });
  return body.flatMap((item, index): Stretch[] => {
    if (item.kind !== "instruction" || item.opcode !== "bra") return [];
    const [target] = item.operands;
    const label = target?.kind === "symbol" ? labels.get(target.name) : undefined;
    return label === undefined
      ? []
      : [{ from: Math.min(index, label), to: Math.max(index, label) }];
  });
}

const bound = perSpelling(isBound);

/** The body with one wait, as late as all threads can do it. */
export function waitForGrids(body: readonly Item[]): Item[] {
  const first = body.findIndex((item) =>
    // What is between the comments of a check may be removed.
    item.kind === "comment" ? item.text === CHECK_BEGIN : item.kind === "instruction" && bound(item)
  );
  let at = first < 0 ? body.length : first;
  // From the last to the first: one that moves the place may move it into others that begin before.
  for (const { from, to } of stretches(body).sort((a, b) => b.from - a.from)) {
    if (from < at && at <= to) at = from;
  }
  return [...body.slice(0, at), WAIT, ...body.slice(at)];
}
