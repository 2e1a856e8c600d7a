/**
 * The two functions that every device has without defining them: `vprintf` and `__assertfail` (CUDA C++ Programming
 * Guide, "Formatted Output" and "Assertion"), and what an entry that calls them declares. Their arguments go through
 * `.param` variables, those of a format one after the other through local memory, each on its natural alignment.
 */
import type { PtxFunction, PtxVariable } from "../../ptx/func.ts";

type Word = "b32" | "b64";

export interface Signature {
  readonly params: readonly Word[];
  readonly returns: readonly Word[];
}

/** What they take and give, as nvcc declares them. */
export const SIGNATURES = {
  vprintf: { params: ["b64", "b64"], returns: ["b32"] },
  __assertfail: { params: ["b64", "b64", "b32", "b64", "b64"], returns: [] },
} as const satisfies Record<string, Signature>;

export type CalleeName = keyof typeof SIGNATURES;

/** What the calls of one entry need around it. */
export class CallTable {
  /** Symbols of texts, by text. */
  readonly #texts = new Map<string, string>();
  readonly #callees = new Set<CalleeName>();
  /** Local memory for the values of a format. */
  #localBytes = 0;

  /** `prefix` keeps the names of several entries of a module apart; `debug`: checks cannot be left out. */
  constructor(readonly prefix: string, readonly debug: boolean) {}

  /** Name of the bytes of a text. */
  symbolOf(text: string): string {
    const known = this.#texts.get(text) ?? `${this.prefix}_text_${this.#texts.size}`;
    this.#texts.set(text, known);
    return known;
  }

  /** Name of local memory of at least so many bytes. */
  local(bytes: number): string {
    this.#localBytes = Math.max(this.#localBytes, bytes);
    return "tri_values";
  }

  note(callee: CalleeName): void {
    this.#callees.add(callee);
  }

  /** Constants of the module: texts end with a zero. */
  get globals(): PtxVariable[] {
    return [...this.#texts].map(([text, name]) => {
      const bytes = [...new TextEncoder().encode(text), 0];
      return {
        space: "global",
        name,
        type: "b8",
        align: 1,
        count: bytes.length,
        initial: bytes.map(BigInt),
      };
    });
  }

  /** Declarations for the module. */
  get externs(): PtxFunction[] {
    return [...this.#callees].map((name) => {
      const { params, returns }: Signature = SIGNATURES[name];
      const formals = (types: readonly Word[], prefix: string): PtxFunction["params"] =>
        types.map((type, i) => ({ kind: "param", name: `${prefix}_${i}`, type }));
      return {
        name,
        extern: true,
        params: formals(params, `${name}_param`),
        returns: formals(returns, `${name}_result`),
        directives: [],
      };
    });
  }

  /** Variables of the entry. */
  get variables(): PtxVariable[] {
    const local: PtxVariable[] = this.#localBytes === 0
      ? []
      : [{ space: "local", name: "tri_values", type: "b8", align: 8, count: this.#localBytes }];
    const params = [...this.#callees].flatMap((name): PtxVariable[] => {
      const { params, returns }: Signature = SIGNATURES[name];
      return [
        ...params.map((type, i) => ({
          space: "param" as const,
          name: argumentName(name, i),
          type,
        })),
        ...returns.map((type, i) => ({ space: "param" as const, name: resultName(name, i), type })),
      ];
    });
    return [...local, ...params];
  }
}

export const argumentName = (callee: CalleeName, index: number): string =>
  `${callee}_argument_${index}`;
export const resultName = (callee: CalleeName, index: number): string =>
  `${callee}_result_${index}`;
