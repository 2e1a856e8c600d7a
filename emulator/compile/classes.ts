/** Classes of instructions, as profiles count them. */
import type { Match } from "../../compiler/ptx/match.ts";
import { isTypeName, TYPES } from "../../compiler/ptx/types.ts";

const CLASSES = [
  "integer",
  "float",
  "conversion",
  "move",
  "global memory",
  "shared memory",
  "other memory",
  "atomic",
  "matrix",
  "asynchronous",
  "warp",
  "barrier",
  "control",
] as const;

export type InstructionClass = (typeof CLASSES)[number];

/** Opcodes whose class does not depend on the form. */
const BY_OPCODE: readonly (readonly [RegExp, InstructionClass])[] = [
  [/^(?:mma|wmma|wgmma|ldmatrix|stmatrix|movmatrix|tcgen05)\b/, "matrix"],
  [/^(?:cp|mbarrier|st\.async|red\.async|tensormap)\b/, "asynchronous"],
  [/^(?:atom|red|multimem)\b/, "atomic"],
  [/^bar\.warp\b|^(?:shfl|vote|match|activemask|redux|elect)\b/, "warp"],
  [/^(?:bar|barrier|membar|fence|griddepcontrol)\b/, "barrier"],
  [/^(?:bra|brx|ret|exit|call|trap|brkpt|nanosleep|setmaxnreg)\b/, "control"],
  [/^(?:mov|selp|prmt|cvta|isspacep|mapa|getctarank)\b/, "move"],
  [/^cvt\b/, "conversion"],
];

/** The class of an instruction. */
export function classOf(match: Match | string): InstructionClass {
  if (typeof match === "string") return "control";
  const { opcode, bound } = match;
  const found = BY_OPCODE.find(([pattern]) => pattern.test(opcode));
  if (found !== undefined) return found[1];
  if (/^(?:ld|ldu|st|prefetch|prefetchu|discard|applypriority)$/.test(opcode)) {
    const names = [...bound.values()];
    if (names.some((name) => name.startsWith("shared"))) return "shared memory";
    return names.some((name) => /^(?:local|param|const)/.test(name))
      ? "other memory"
      : "global memory";
  }
  const type = bound.get("T") ?? [...bound.values()].findLast(isTypeName) ?? "b32";
  return isTypeName(type) && TYPES[type].class === "float" ? "float" : "integer";
}
