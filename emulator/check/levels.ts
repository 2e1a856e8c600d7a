/** The checks that a program may choose one by one, and what is done about what each of them finds. */
import type { FaultKind } from "../fault.ts";

/** What is done about a finding: the launch throws it, continues and lists it as a warning, or does not look for it. */
export type CheckLevel = "error" | "warn" | "off";

interface CheckRow {
  /** The kinds of faults that it finds. */
  readonly finds: readonly FaultKind[];
  /** What is done about them unless a program says otherwise. */
  readonly level: CheckLevel;
  /** For docs/emulator.md. */
  readonly doc: string;
}

/** The name of a check. */
export type CheckName =
  | "bounds"
  | "alignment"
  | "uninitialized"
  | "races"
  | "barriers"
  | "masks"
  | "exitedLanes"
  | "copies"
  | "proxies"
  | "readOnly"
  | "clusters"
  | "starts";

/** The checks by name. Faults of other kinds always end a launch. */
export const CHECKS = {
  bounds: {
    finds: ["out of bounds", "use after free"],
    level: "error",
    doc:
      "accesses outside of what is allocated; as a warning, the access is left out and loads give 0",
  },
  alignment: {
    finds: ["misaligned"],
    level: "error",
    doc: "addresses that are no multiple of the access; as a warning, the access is left out",
  },
  uninitialized: {
    finds: ["uninitialised memory", "uninitialised register"],
    level: "error",
    doc: "values that nothing has written",
  },
  races: {
    finds: ["race", "missing barrier"],
    level: "error",
    doc:
      "accesses of different threads to the same bytes that nothing orders, and updates that get lost",
  },
  barriers: {
    finds: ["divergent barrier"],
    level: "error",
    doc: "threads that pass by a barrier, or by a warp's instruction, where others wait for them",
  },
  masks: {
    finds: ["member mask"],
    level: "error",
    doc: "lanes that run an instruction whose member mask does not name them",
  },
  exitedLanes: {
    finds: ["exited lanes"],
    level: "warn",
    doc:
      "member masks that name lanes which have exited: the ISA lets them, but such a lane gives nothing",
  },
  copies: {
    finds: ["pending copy", "register in flight"],
    level: "error",
    doc:
      "memory and registers that asynchronous copies or products still read or write, used before the wait for them",
  },
  proxies: {
    finds: ["missing fence"],
    level: "error",
    doc:
      "shared memory that bulk copies or `wgmma` use after stores without a `fence.proxy.async` in between",
  },
  readOnly: {
    finds: ["read-only memory"],
    level: "error",
    doc: "`ld.global.nc` of bytes that the same launch has written",
  },
  clusters: {
    finds: ["exited block"],
    level: "error",
    doc: "shared memory of another block of the cluster that has exited, or may have",
  },
  starts: {
    finds: ["early access"],
    level: "error",
    doc:
      "global memory accessed before `griddepcontrol.wait`, and threads that end without it, in launches with `startsEarly`",
  },
} as const satisfies Record<CheckName, CheckRow>;

/** What is done about the findings of each check. */
export type CheckLevels = Readonly<Record<CheckName, CheckLevel>>;

/** Levels by name; a check that is not named has its default. */
export type CheckChoice = { readonly [Name in CheckName]?: CheckLevel | undefined };

/** All names, in the order of the table. */
export const CHECK_NAMES = Object.keys(CHECKS) as readonly CheckName[];

/** The levels, as words that a program may use. */
export const CHECK_LEVELS: readonly CheckLevel[] = ["error", "warn", "off"];

function levelsOf(level: (name: CheckName) => CheckLevel): CheckLevels {
  return {
    bounds: level("bounds"),
    alignment: level("alignment"),
    uninitialized: level("uninitialized"),
    races: level("races"),
    barriers: level("barriers"),
    masks: level("masks"),
    exitedLanes: level("exitedLanes"),
    copies: level("copies"),
    proxies: level("proxies"),
    readOnly: level("readOnly"),
    clusters: level("clusters"),
    starts: level("starts"),
  };
}

/** What `checks: true` means. */
export const DEFAULT_LEVELS: CheckLevels = levelsOf((name) => CHECKS[name].level);

/** What `checks: false` means. */
const NO_LEVELS: CheckLevels = levelsOf(() => "off");

/** The levels that a choice means; checks that it does not name have their default. */
export function levelsFor(choice: boolean | CheckChoice): CheckLevels {
  if (typeof choice === "boolean") return choice ? DEFAULT_LEVELS : NO_LEVELS;
  return levelsOf((name) => (Object.hasOwn(choice, name) && choice[name]) || CHECKS[name].level);
}

/** Whether anything is looked for. */
export function anyCheck(levels: CheckLevels): boolean {
  return CHECK_NAMES.some((name) => levels[name] !== "off");
}

const CHECK_OF_KIND: ReadonlyMap<FaultKind, CheckName> = new Map(
  CHECK_NAMES.flatMap((name) => CHECKS[name].finds.map((kind) => [kind, name] as const)),
);

/** The check that finds a kind of fault; undefined for what always ends a launch. */
export function checkOf(kind: FaultKind): CheckName | undefined {
  return CHECK_OF_KIND.get(kind);
}
