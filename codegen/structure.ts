/** A module to be generated, as plain data: `emit.ts` puts it together. */
import { type Doc, propertyKey } from "./doc.ts";

export interface ModuleStructure {
  /** Comment at the top, without comment marks. */
  readonly header: readonly string[];
  readonly imports: readonly ImportStructure[];
  readonly declarations: readonly Declaration[];
}

export interface ImportStructure {
  readonly from: string;
  readonly values: readonly string[];
  readonly types: readonly string[];
}

export type Declaration =
  | InterfaceStructure
  | (DeclarationBase & { readonly kind: "type"; readonly type: Doc })
  | (DeclarationBase & { readonly kind: "const"; readonly type?: string; readonly value: Doc })
  /** An arrow function of numbers that makes an object or a list. */
  | {
    readonly kind: "function";
    readonly name: string;
    /** Such as `a: number` or `b = a - 1`. */
    readonly params: readonly string[];
    readonly type: Doc;
    readonly value: Doc;
  }
  | {
    readonly kind: "reexport";
    readonly from: string;
    /** Everything when absent. */
    readonly names?: readonly ReexportedName[];
  };

/** A name that a module hands on from another one. */
export interface ReexportedName {
  readonly name: string;
  readonly isType: boolean;
  /** What it is called here, if not the same. */
  readonly alias?: string;
}

/** What a module exports. */
export interface ExportedNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

interface DeclarationBase {
  readonly name: string;
  readonly isExported: boolean;
  /** Text of the doc comment; empty: none. */
  readonly doc: string;
}

export interface InterfaceStructure extends DeclarationBase {
  readonly kind: "interface";
  readonly typeParams: readonly TypeParam[];
  readonly extends?: Doc;
  readonly members: readonly MemberStructure[];
}

/** A type parameter, such as `D extends DType = DType`. */
export interface TypeParam {
  readonly name: string;
  readonly bound: string;
  readonly isOptional: boolean;
}

export type MemberStructure =
  | {
    readonly kind: "property";
    readonly name: string;
    readonly isOptional: boolean;
    readonly type: Doc;
    readonly doc: string;
  }
  | {
    readonly kind: "method";
    /** Empty: the interface is callable. */
    readonly name: string;
    readonly typeParams: readonly TypeParam[];
    /** Such as `x: Tensor<D, 2>`. */
    readonly params: readonly string[];
    readonly returns: Doc;
    readonly doc: string;
  };

/** A property of an interface. */
export function property(name: string, type: Doc, isOptional: boolean, doc = ""): MemberStructure {
  return { kind: "property", name: propertyKey(name), isOptional, type, doc };
}
