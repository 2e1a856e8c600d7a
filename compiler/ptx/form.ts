/**
 * Forms: how one row of PTX_OPS writes down what its instructions look like, and the reader of that notation.
 *
 *     .RND?.ftz?.T d, a, b*2:b32, c:pred?
 *
 * Modifiers, in the order of the ISA (bind.ts takes others): `.ftz` itself, `.lo|hi` one of these, `.RND` one of the
 * GROUPS, `.T` and `.U` one of the types in the form's columns; `?` marks what may be absent.
 *
 * Operands: a name, then `*n` for a vector, `:type`, `+` where wider registers may hold the type, `?` where the
 * operand may be absent. Names that begin with `d` are destinations. The type is `T` unless given, or the last type
 * among the modifiers; `W` is twice as wide as T. Vectors have n elements, or `V` and `N`: as many as the modifier
 * `.v4` or `.x4` says (one, without braces, when there is no `.v4`), `S/2`: the n of `.m64n128k16` halved.
 *
 *     a        a register or a literal          [a]      an address
 *     $a       also a symbol or %special        [a,x]    an address in a tensor map, with coordinates
 *     !a       a predicate, perhaps negated     #n       an integer literal
 *     d|dp     a pair of destinations, the second with its `:type` and perhaps `?`
 *     @l       a label                          ^p       a cache policy, there with `.L2::cache_hint` only
 *     _        the sink                         (a)      results or arguments of a call
 *     [a,s,x]  an address of a texture, with a sampler and coordinates
 *     ~a       a register, some bytes of it (`%r1.h0`) or its negative (`-%r1`)
 */
import { bug, must } from "../support/bug.ts";
import { isTypeName } from "./types.ts";
import { times } from "../support/times.ts";

/** The oldest PTX version (times ten) and the smallest architecture that have something. */
export interface Since {
  readonly ptx: number;
  readonly sm: number;
  /** Only on architectures with this suffix, such as `sm_90a`. */
  readonly suffix?: "a";
  /** The last architecture that has it. */
  readonly lastSm?: number;
}

/** The oldest version and the architectures that have both. */
export function bothSince(a: Since, b: Since | undefined): Since {
  if (b === undefined) return a;
  const suffix = a.suffix ?? b.suffix;
  const lastSm = a.lastSm ?? b.lastSm;
  return {
    ptx: Math.max(a.ptx, b.ptx),
    sm: Math.max(a.sm, b.sm),
    ...(suffix === undefined ? {} : { suffix }),
    ...(lastSm === undefined ? {} : { lastSm }),
  };
}

/** pure: the destination only; read: memory too; write: memory; sync: other threads; control: what runs next. */
export type Effect = "pure" | "read" | "write" | "sync" | "control";

export interface PtxForm {
  readonly form: string;
  /** Types that `.T` and `.U` mean. */
  readonly T?: string;
  readonly U?: string;
  readonly since?: Since;
}

export interface PtxOpRow {
  readonly doc: string;
  /** Sections of the PTX ISA 9.0 that describe the instruction. */
  readonly isa: string;
  readonly effect: Effect;
  readonly since?: Since;
  /** None for instructions that are known by name only: what they do is not supported. */
  readonly forms: readonly PtxForm[];
  /** Modifiers that the ISA has and no form here. */
  readonly unsupported?: readonly string[];
}

const extents = (count: number, step: number): number[] => times(count, (i) => step * (i + 1));

/** Modifiers of which forms take one. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  RND: ["rn", "rz", "rm", "rp"],
  RNDI: ["rni", "rzi", "rmi", "rpi"],
  CMPI: ["eq", "ne", "lt", "le", "gt", "ge"],
  CMPU: ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"],
  CMPF: [
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan",
  ],
  BOOL: ["and", "or", "xor"],
  SPACE: [
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "param",
    "param::entry",
    "param::func",
    "const",
  ],
  STORE: [
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "param",
    "param::func",
  ],
  ATOMIC: ["global", "shared", "shared::cta", "shared::cluster"],
  SHARED: ["shared", "shared::cta"],
  CTASPACE: ["shared", "shared::cta", "shared::cluster"],
  SCOPE: ["cta", "cluster", "gpu", "sys"],
  ORDER: ["relaxed", "acquire", "release", "acq_rel"],
  LDCACHE: ["ca", "cg", "cs", "lu", "cv"],
  NCCACHE: ["ca", "cg", "cs"],
  STCACHE: ["wb", "cg", "cs", "wt"],
  EVICT: [
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
  ],
  PREFETCH: ["L2::64B", "L2::128B", "L2::256B"],
  VEC: ["v2", "v4"],
  VEC8: ["v2", "v4", "v8"],
  TEXTURE: ["1d", "2d", "3d", "a1d", "a2d", "cube", "acube"],
  TEXEL: ["1d", "2d", "3d", "a1d", "a2d"],
  SURFACE: ["1d", "2d", "3d", "a1d", "a2d"],
  ALAYOUT: ["row", "col"],
  BLAYOUT: ["row", "col"],
  // Types of the operands of video instructions.
  DTYPE: ["u32", "s32"],
  ATYPE: ["u32", "s32"],
  BTYPE: ["u32", "s32"],
  NUM: ["x1", "x2", "x4"],
  DIM: ["1d", "2d", "3d", "4d", "5d"],
  WG8: extents(32, 8).map((n) => `m64n${n}k8`),
  WG16: extents(32, 8).map((n) => `m64n${n}k16`),
  WG32: extents(32, 8).map((n) => `m64n${n}k32`),
  WGI: [8, 24, ...extents(16, 16)].map((n) => `m64n${n}k32`),
};

/** One position in the list of modifiers. */
export interface ModifierPiece {
  readonly names: readonly string[];
  readonly optional: boolean;
  /** Name under which the choice is remembered: `T`, `VEC`, … */
  readonly variable: string;
}

export interface OperandPiece {
  readonly name: string;
  readonly kind:
    | "value"
    | "any"
    | "predicate"
    | "address"
    | "tensor"
    | "texture"
    | "literal"
    | "label"
    | "list"
    | "part"
    | "sink";
  readonly destination: boolean;
  /** A type, a variable of the form, or W. */
  readonly type: string;
  readonly wider: boolean;
  /** Elements of a vector: a number, V, N, S/2 or S/4; absent for a single operand. */
  readonly count: string | undefined;
  readonly optional: boolean;
  /** There if this modifier is, and only then. */
  readonly needs: string | undefined;
  readonly second: OperandPiece | undefined;
}

export interface ReadForm {
  readonly modifiers: readonly ModifierPiece[];
  readonly operands: readonly OperandPiece[];
}

function readModifier(text: string, form: PtxForm): ModifierPiece {
  const optional = text.endsWith("?");
  const body = optional ? text.slice(0, -1) : text;
  const columns: Readonly<Record<string, string | undefined>> = { T: form.T, U: form.U };
  const names = columns[body]?.split(" ") ?? GROUPS[body];
  if (names !== undefined) return { names, optional, variable: body };
  if (/^(?:[TU]|[A-Z]{2,}\d*)$/.test(body)) bug(`form "${form.form}": unknown group ${body}`);
  return { names: body.split("|"), optional, variable: body };
}

const OPERAND = /^([$!#@^~]?)([a-z][a-z0-9]*|_)(?:\*([\dA-Z/]+))?(?::([\w]+))?(\+?)(\??)$/;
const KINDS: Readonly<Record<string, OperandPiece["kind"]>> = {
  $: "any",
  "!": "predicate",
  "#": "literal",
  "@": "label",
  "~": "part",
};
const TYPE_OF_KIND: Readonly<Partial<Record<OperandPiece["kind"], string>>> = {
  predicate: "pred",
  literal: "b64",
};

/** By the number of operands after the address. */
const ADDRESSES: readonly OperandPiece["kind"][] = ["address", "tensor", "texture"];

function readOperand(text: string, form: PtxForm, type: string): OperandPiece {
  const plain: Omit<OperandPiece, "name" | "kind"> = {
    destination: false,
    type: "b64",
    wider: false,
    count: undefined,
    optional: false,
    needs: undefined,
    second: undefined,
  };
  const [, address, more = ""] = /^\[(\w+)((?:,\w+)*)\]$/.exec(text) ?? [];
  if (address !== undefined) {
    return { ...plain, name: address, kind: ADDRESSES[more.split(",").length - 1] ?? "address" };
  }
  const [, list] = /^\((\w+)\)$/.exec(text) ?? [];
  if (list !== undefined) {
    return { ...plain, name: list, kind: "list", destination: list.startsWith("d") };
  }
  const [first = "", second] = text.split("|");
  const [, mark = "", name = "", count, own, wider, optional] = OPERAND.exec(first) ??
    bug(`form "${form.form}": cannot read operand ${text}`);
  if (name === "_") return { ...plain, name, kind: "sink", destination: true };
  if (mark === "^") return { ...plain, name, kind: "value", needs: "L2::cache_hint" };
  const kind = KINDS[mark] ?? "value";
  return {
    ...plain,
    name,
    kind,
    destination: name.startsWith("d"),
    type: own ?? TYPE_OF_KIND[kind] ?? type,
    wider: wider === "+",
    count,
    optional: optional === "?",
    second: second === undefined ? undefined : readOperand(second, form, type),
  };
}

const read = new WeakMap<PtxForm, ReadForm>();

/** The pieces of a form; read once. */
export function readForm(form: PtxForm): ReadForm {
  const known = read.get(form);
  if (known !== undefined) return known;
  const [spelling = "", ...rest] = form.form.split(" ");
  const modifiers = spelling.split(".").slice(1).map((text) => readModifier(text, form));
  const typed = modifiers.findLast(({ variable }) => isTypeName(variable));
  const type = form.T === undefined ? typed?.variable ?? "b32" : "T";
  const operands = rest.join(" ").split(/, (?![^[]*\])/).filter((text) => text !== "");
  const result: ReadForm = {
    modifiers,
    operands: operands.map((text) => readOperand(must(text, "operand"), form, type)),
  };
  read.set(form, result);
  return result;
}
