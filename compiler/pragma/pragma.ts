/** `#pragma tri` items of file scope (language.md 10.3), read from raw text before preprocessing. */
import type { Span } from "../support/source.ts";

/** A piece of source text that is looked at later, once per instance, with macros expanded. */
export interface PragmaText {
  readonly text: string;
  readonly span: Span;
}
export interface PragmaName {
  readonly name: string;
  readonly span: Span;
}
export interface Binding extends PragmaName {
  readonly value: string;
}
export interface Axis extends PragmaName {
  readonly values: readonly string[];
}
export interface OptionSetting extends PragmaName {
  /** `num_warps=4` has "4", `math(precise)` has "precise"; undefined when bare. */
  readonly value?: string;
  /** `num_warps=COLS / 512`: what the value is computed from, in place of one. */
  readonly expression?: PragmaText;
}
/** A condition of `specialize`: `auto`, `auto && e` or `e`. */
export interface SpecializeCondition {
  readonly isAutomatic: boolean;
  readonly condition?: PragmaText;
}

/** What `tensor` says of a pointer parameter. */
export interface TensorDescription {
  readonly span: Span;
  readonly param: PragmaName;
  readonly direction?: "in" | "out" | "inout";
  readonly type?: PragmaText;
  readonly extents: readonly PragmaText[];
  readonly strides?: readonly PragmaText[];
  readonly align?: number;
  readonly contiguous: boolean;
  readonly optional: boolean;
  readonly noalias: boolean;
  /** The kernel reads of an output only what it has written itself. */
  readonly reread: boolean;
}

export type PragmaItem =
  & { readonly span: Span }
  & (
    | { readonly kind: "kernel"; readonly names: readonly PragmaName[] }
    | {
      readonly kind: "variant";
      readonly name?: PragmaName;
      readonly bindings: readonly Binding[];
    }
    | { readonly kind: "variants"; readonly axes: readonly Axis[] }
    | {
      readonly kind: "config";
      readonly bindings: readonly Binding[];
      readonly options: readonly OptionSetting[];
    }
    | {
      readonly kind: "configs";
      readonly axes: readonly Axis[];
      readonly optionAxes: readonly Axis[];
      readonly condition?: PragmaText;
    }
    | { readonly kind: "key"; readonly names: readonly PragmaName[] }
    | { readonly kind: "grid"; readonly extents: readonly PragmaText[] }
    | { readonly kind: "tensor"; readonly tensors: readonly TensorDescription[] }
    | { readonly kind: "require"; readonly condition: PragmaText; readonly message?: string }
    | { readonly kind: "noalias"; readonly names: "all" | readonly PragmaName[] }
    | {
      readonly kind: "specialize";
      readonly mode: "off" | readonly SpecializeCondition[];
      /** The conditions are repeated for each value of this parameter. */
      readonly over?: Axis;
      /** In place of those of the configurations. */
      readonly options: readonly OptionSetting[];
    }
    | { readonly kind: "option"; readonly setting: OptionSetting }
  );

/** `include "FILE"`: the pragmas of a file, which take its place. */
export interface PragmaInclude {
  readonly kind: "include";
  readonly file: string;
  readonly span: Span;
}

/** Pragmas that belong together: all before one kernel definition. */
export interface PragmaGroup {
  /** Offset of the end of the group's last pragma; the next kernel defined after it owns the group. */
  readonly end: number;
  readonly items: readonly PragmaItem[];
}

/** An item and the override it came from; `undefined`: the file itself. */
export interface SourcedItem {
  readonly item: PragmaItem;
  readonly origin: string | undefined;
}
