/** The two sides of a conflict: who accesses now, and who did before without anything that orders the two. */
import type { Finding } from "../../cli/report/finding.ts";

/** One access. */
export interface Side {
  /** "reads", "writes", "updates". */
  readonly does: string;
  readonly who: string;
  readonly instruction: string;
  /** 1-based; 0 where it is not known. */
  readonly line: number;
}

/** Both, the later first, and what they meet at. */
export interface Sides {
  readonly place: string;
  readonly now: Side;
  readonly before: Side;
}

const CONFLICT =
  /^(load|store|\S+) of \d+ bytes? at (.+?) by (thread \d+) is not ordered with a (write|read) by (.+?)(?:, by `([^`]*)`(?: \(([^()]*):(\d+)\))?)?$/;

/** The sides of a race, a missing barrier; undefined for other kinds. */
export function sidesOf({ detail, instruction = "", source, block }: Finding): Sides | undefined {
  const [, verb = "", place = "", thread = "", did = "", other = "", text = "", , line = "0"] =
    CONFLICT.exec(detail) ?? [];
  if (place === "") return undefined;
  const here = block === undefined ? "" : ` of block ${block[0]}`;
  return {
    place,
    now: {
      does: verb === "load" ? "reads" : verb === "store" ? "writes" : "updates",
      who: `${thread}${here}`,
      instruction,
      line: Number(/:(\d+)(?::\d+)?$/.exec(source ?? "")?.[1] ?? 0),
    },
    before: {
      does: did === "write" ? "wrote" : "read",
      who: other.includes("block") ? other : `${other}${here}`,
      instruction: text,
      line: Number(line),
    },
  };
}
