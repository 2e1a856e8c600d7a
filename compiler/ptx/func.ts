/**
 * PTX as data: module, kernels, instructions, operands. The compiler builds it, the printer writes it, the
 * parser reads it back, the emulator decodes it. A leaf: imports nothing but its own folder.
 */

/** Types that registers are declared with. */
export type RegisterType =
  | "pred"
  | "b8"
  | "b16"
  | "b32"
  | "b64"
  | "b128"
  | "u8"
  | "u16"
  | "u32"
  | "u64"
  | "s8"
  | "s16"
  | "s32"
  | "s64"
  | "f16"
  | "f16x2"
  | "bf16"
  | "bf16x2"
  | "f32"
  | "f64";

export interface Register {
  readonly kind: "register";
  readonly type: RegisterType;
  /** Without the percent sign; unique in its scope: `r12`, `rd3`, `p1`, `f7`. */
  readonly name: string;
}

export type Operand =
  | Register
  /** Integer literal. */
  | { readonly kind: "integer"; readonly value: bigint }
  /** Float literal by its bits: prints as 0f3F800000 or 0d3FF0000000000000. */
  | { readonly kind: "float"; readonly type: "f32" | "f64"; readonly bits: bigint }
  /** `%tid.x`, `%ctaid.y`, `%laneid`, … without the percent sign. */
  | { readonly kind: "special"; readonly name: string }
  /** A variable, parameter, label or function. */
  | { readonly kind: "symbol"; readonly name: string }
  /** `[base+offset]`; base absent for absolute addresses. Of tensor maps `[base, {x, y}]`: with coordinates. */
  | {
    readonly kind: "address";
    readonly base?: Operand;
    readonly offset: bigint;
    readonly coordinates?: Operand;
  }
  /** `{a, b, c, d}`; an element may be the sink `_`. */
  | { readonly kind: "vector"; readonly elements: readonly Operand[] }
  /** `a|b`: value and predicate destinations of setp, shfl, match, … */
  | { readonly kind: "pair"; readonly first: Operand; readonly second: Operand }
  /** `!p` as a source. */
  | { readonly kind: "negated"; readonly operand: Operand }
  /** `_` */
  | { readonly kind: "sink" };

export interface Instruction {
  readonly kind: "instruction";
  /** Base mnemonic, the part before the first dot that names a row of PTX_OPS: `ld`, `mad`, `cp.async.bulk`. */
  readonly opcode: string;
  /** The rest in order, without dots: `["global", "L1::no_allocate", "v4", "b32"]`. */
  readonly modifiers: readonly string[];
  readonly operands: readonly Operand[];
  /** `@p` / `@!p`. */
  readonly guard?: { readonly register: Register; readonly negated: boolean };
}

export type Item =
  | Instruction
  | { readonly kind: "label"; readonly name: string }
  /** `name: .branchtargets L0, L1;`, the list that `brx.idx` chooses from. */
  | { readonly kind: "targets"; readonly name: string; readonly labels: readonly string[] }
  /** `.pragma "nounroll";` */
  | { readonly kind: "pragma"; readonly text: string }
  /** `.loc file line column`; file indexes PtxModule.files, 1-based. */
  | { readonly kind: "loc"; readonly file: number; readonly line: number; readonly column: number }
  | { readonly kind: "comment"; readonly text: string };

export interface PtxParam {
  readonly name: string;
  /** Scalar type, or b8 with a byte count for by-value structures. */
  readonly type: string;
  readonly bytes?: number;
  readonly align?: number;
  /** `.ptr .global .align 16`: what the parameter points to. */
  readonly pointer?: { readonly space?: string; readonly align?: number };
}

/** An address in an initial value: `name+offset`, or `generic(name+offset)`. */
export interface PtxReference {
  readonly symbol: string;
  readonly offset: bigint;
  readonly generic: boolean;
}

/** `.shared`, `.global`, `.const`, `.local` variables. */
export interface PtxVariable {
  readonly space: "shared" | "global" | "const" | "local";
  readonly name: string;
  readonly type: string;
  readonly align?: number;
  /** Array extent in elements; 0 for `[]` (dynamic shared memory). Absent for a single value. */
  readonly count?: number;
  readonly extern?: boolean;
  readonly visible?: boolean;
  /** Initial values of the elements, floats by their bits. */
  readonly initial?: readonly (bigint | PtxReference)[];
}

export interface PtxKernel {
  readonly name: string;
  readonly params: readonly PtxParam[];
  /** Performance directives in order: `.reqntid 128, 1, 1`, `.minnctapersm 4`. */
  readonly directives: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly registers: readonly Register[];
  readonly variables: readonly PtxVariable[];
  readonly body: readonly Item[];
}

export interface PtxModule {
  /** PTX version times ten: 74 for 7.4. */
  readonly version: number;
  readonly target: string;
  readonly files: readonly string[];
  readonly variables: readonly PtxVariable[];
  readonly kernels: readonly PtxKernel[];
}
