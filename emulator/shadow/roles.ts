/**
 * What becomes of undefined bits of the registers that an instruction reads. They pass on to its results where it only
 * computes; they go to memory where it stores; they are a mistake where they decide what the thread does: as an
 * address, as the predicate of a branch or of anything that acts beyond registers, as the operand of a barrier, as the
 * mask of lanes that act together.
 */
import type { Instruction, Register } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import { forEachRegister } from "../../compiler/ptx/operand.ts";

/** A register that must be defined. */
export interface Demand {
  readonly register: Register;
  /** What it is used as, a clause: "it is used as an address". */
  readonly use: string;
}

export interface Roles {
  /** Registers whose undefined bits make results undefined. */
  readonly carried: readonly Register[];
  readonly demanded: readonly Demand[];
}

/** Instructions whose effect is beyond a lane's registers and that compute all the same: what they read passes on. */
const COMPUTING: ReadonlySet<string> = new Set([
  "add.cc",
  "addc",
  "sub.cc",
  "subc",
  "mad.lo.cc",
  "mad.hi.cc",
  "madc",
  "shfl",
  "shfl.sync",
  "vote",
  "vote.sync",
  "match",
  "redux.sync",
  "movmatrix",
  "mma",
  "mma.sp",
  "mma.sp::ordered_metadata",
  "wmma.mma",
]);

/** Hints: hardware ignores their addresses where there is nothing. */
const HINTS: ReadonlySet<string> = new Set(["prefetch", "prefetchu", "applypriority"]);

/** Operands whose values go to memory: the handlers of these instructions look at their shadows. */
const STORED: Readonly<Record<string, ReadonlySet<string>>> = {
  st: new Set(["b"]),
  atom: new Set(["b", "c"]),
  red: new Set(["b", "c"]),
  stmatrix: new Set(["b"]),
  "wmma.store": new Set(["b"]),
};

const USES: Readonly<Record<string, string>> = {
  bra: "a branch depends on it",
  "brx.idx": "a branch depends on it",
  ret: "a branch depends on it",
  exit: "a branch depends on it",
};

/** Whether an instruction only computes registers from registers. */
function computes({ opcode, row }: Match): boolean {
  return row.effect === "pure" || COMPUTING.has(opcode);
}

function otherUse(opcode: string, name: string): string {
  if (name === "m") return "it names the lanes that take part";
  if (/^bar(?:rier)?(?:\.|$)/.test(opcode)) return "a barrier depends on it";
  return USES[opcode] ?? `${opcode} depends on it`;
}

/** The roles of what an instruction reads. */
export function rolesOf({ guard }: Instruction, match: Match): Roles {
  const { opcode } = match;
  const carried: Register[] = [];
  const demanded: Demand[] = [];
  const demand = (use: string) => (register: Register): void => {
    demanded.push({ register, use });
  };
  const carry = (register: Register): void => {
    carried.push(register);
  };
  const pure = computes(match);
  if (guard !== undefined) {
    if (pure) carry(guard.register);
    else demand(USES[opcode] ?? "the instruction runs under it")(guard.register);
  }
  for (const { name, operand, destination } of match.operands) {
    if (operand.kind === "address") {
      if (!HINTS.has(opcode)) forEachRegister(operand, demand("it is used as an address"));
    } else if (opcode === "wgmma.mma_async" && (destination || operand.kind === "vector")) {
      // Products add to what is there, unless an operand says otherwise.
      forEachRegister(operand, carry);
    } else if (destination || STORED[opcode]?.has(name) === true) continue;
    else if (pure && name !== "m") forEachRegister(operand, carry);
    else forEachRegister(operand, demand(otherUse(opcode, name)));
  }
  return { carried, demanded };
}
