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
  /** Another number for each register of the body that an emitter made it for; tables are faster by it than by names. */
  readonly index?: number;
}

export type Operand =
  | Register
  /** Integer literal. */
  | { readonly kind: "integer"; readonly value: bigint }
  /** Float literal by its bits: prints as 0f3F800000 or 0d3FF0000000000000. */
  | { readonly kind: "float"; readonly type: "f32" | "f64"; readonly bits: bigint }
  /** `%tid.x`, `%ctaid.y`, `%laneid`, … without the percent sign. */
  | { readonly kind: "special"; readonly name: string }
  /** A variable, parameter, label or function; of variables perhaps some bytes further on: `name+4`. */
  | { readonly kind: "symbol"; readonly name: string; readonly offset?: bigint }
  /**
   * `[base+offset]`; base absent for absolute addresses. Of tensor maps, textures and surfaces with coordinates:
   * `[base, {x, y}]`, perhaps with a sampler in front of them.
   */
  | {
    readonly kind: "address";
    readonly base?: Operand;
    readonly offset: bigint;
    readonly sampler?: Operand;
    readonly coordinates?: Operand;
    /** `[base].unified`: the variable has the attribute of that name. */
    readonly unified?: true;
  }
  /** `(a, b)`: results and arguments of `call`. */
  | { readonly kind: "list"; readonly elements: readonly Operand[] }
  /** `{a, b, c, d}`; an element may be the sink `_`. */
  | { readonly kind: "vector"; readonly elements: readonly Operand[] }
  /** `a|b`: value and predicate destinations of setp, shfl, match, … */
  | { readonly kind: "pair"; readonly first: Operand; readonly second: Operand }
  /** `%r1.h0`, `%r1.b3210`: halves or bytes of a register, in video instructions. */
  | { readonly kind: "part"; readonly register: Register; readonly part: string }
  /** `-%r1`, in video instructions. */
  | { readonly kind: "negative"; readonly operand: Operand }
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
  /** `name: .calltargets f, g;`, the functions that an indirect call chooses from. */
  | { readonly kind: "functions"; readonly name: string; readonly functions: readonly string[] }
  /** `name: .callprototype (…) _ (…);`, what an indirect call takes and gives. */
  | ({ readonly kind: "prototype"; readonly name: string } & PtxSignature)
  /** `.pragma "nounroll";` */
  | { readonly kind: "pragma"; readonly text: string }
  /** `.loc file line column`; file indexes PtxModule.files, 1-based. */
  | ({ readonly kind: "loc"; readonly inlined?: PtxInlined } & PtxLocation)
  | { readonly kind: "comment"; readonly text: string };

/** A location in a source file; file indexes PtxModule.files, 1-based. */
export interface PtxLocation {
  readonly file: number;
  readonly line: number;
  readonly column: number;
}

/** A location that was inlined: the function that it belongs to (mangled), and where that was called. */
export interface PtxInlined extends PtxLocation {
  readonly function: string;
}

export interface PtxParam {
  readonly name: string;
  /** Scalar type, `texref`, `samplerref` or `surfref`, or b8 with a byte count for arrays and by-value structures. */
  readonly type: string;
  /** 0 for `[]`, as many as the caller gives. */
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
  /** `0xFF00(name)`: only these bits of it, shifted down to bit 0. */
  readonly mask?: bigint;
}

/**
 * `.shared`, `.global`, `.const`, `.local` variables, and in bodies those of `.param`, which hold arguments and
 * results of calls. Variables of vector type are arrays of as many elements, aligned as the vector is.
 */
export interface PtxVariable {
  readonly space: "shared" | "global" | "const" | "local" | "param";
  readonly name: string;
  /** Scalar type, or `texref`, `samplerref`, `surfref`. */
  readonly type: string;
  readonly align?: number;
  /**
   * Array extent in elements, all dimensions together; 0 for `[]` (dynamic shared memory). Absent for a single value.
   */
  readonly count?: number;
  readonly extern?: boolean;
  /** Known to other modules; `weak` and `common` variables are as well. */
  readonly visible?: boolean;
  readonly weak?: boolean;
  readonly common?: boolean;
  /** `managed`, `unified(19, 95)`. */
  readonly attributes?: readonly string[];
  /** Initial values of the elements, floats by their bits. */
  readonly initial?: readonly (bigint | PtxReference)[];
  /** Initial properties of a texture, sampler or surface: `filter_mode` is `nearest`. */
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/** A directive of a kernel or function with its numbers: `.reqntid 128, 1, 1`, `.minnctapersm 4`. */
export interface PtxDirective {
  readonly name: string;
  readonly values: readonly number[];
}

export interface PtxKernel {
  readonly name: string;
  readonly params: readonly PtxParam[];
  /** Performance directives in order. */
  readonly directives: readonly PtxDirective[];
  readonly registers: readonly Register[];
  readonly variables: readonly PtxVariable[];
  readonly body: readonly Item[];
  readonly weak?: boolean;
}

/** A parameter or result of a function: a register, or in the space `.param`. */
export type PtxFormal = Register | ({ readonly kind: "param" } & PtxParam);

/** What a function takes and gives. */
export interface PtxSignature {
  readonly returns: readonly PtxFormal[];
  readonly params: readonly PtxFormal[];
  /** `.noreturn`, `.abi_preserve 8`. */
  readonly directives: readonly PtxDirective[];
}

/** A device function. */
export interface PtxFunction extends PtxSignature {
  readonly name: string;
  readonly extern?: boolean;
  readonly visible?: boolean;
  readonly weak?: boolean;
  readonly attributes?: readonly string[];
  /** Absent where the function is declared but not defined: `vprintf`. */
  readonly code?: PtxCode;
}

/** The body of a function; registers are those besides the parameters. */
export interface PtxCode {
  readonly registers: readonly Register[];
  readonly variables: readonly PtxVariable[];
  readonly body: readonly Item[];
}

export interface PtxModule {
  /** PTX version times ten: 74 for 7.4. */
  readonly version: number;
  readonly target: string;
  /** Absent for 64. */
  readonly addressSize?: 32;
  readonly files: readonly string[];
  readonly pragmas?: readonly string[];
  readonly variables: readonly PtxVariable[];
  /** Each function once, defined or declared only; what is called comes first where the text has it so. */
  readonly functions: readonly PtxFunction[];
  /** Other names of functions. */
  readonly aliases?: readonly { readonly name: string; readonly target: string }[];
  readonly kernels: readonly PtxKernel[];
}
