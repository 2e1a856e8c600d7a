/**
 * The syntax tree of Triton-C: what was written, before any name or type is known (grammar: language.md,
 * Appendix A). Every node has a span. Names resolve types, so the parser tracks typedef names, no more.
 */
import type { Span } from "../support/source.ts";

export interface Unit {
  readonly items: readonly TopItem[];
}

export type TopItem = FunctionDefinition | Declaration | StaticAssert;

export interface Name {
  readonly text: string;
  readonly span: Span;
}

export interface FunctionDefinition {
  readonly kind: "function";
  readonly specs: Specs;
  readonly declarator: Declarator;
  readonly body: Block;
  readonly span: Span;
  /** Text of the comment that ends right above the definition, markers stripped; empty if there is none. */
  readonly doc: string;
}

/** Also a prototype: then one declarator has `params`. */
export interface Declaration {
  readonly kind: "declaration";
  readonly specs: Specs;
  readonly inits: readonly InitDeclarator[];
  readonly span: Span;
}

export interface InitDeclarator {
  readonly declarator: Declarator;
  /** One entry for `= e` and `= { e }`; several only for the list that E4003 reports. */
  readonly initializer?: readonly Expr[];
  readonly span: Span;
}

export interface StaticAssert {
  readonly kind: "static-assert";
  readonly condition: Expr;
  /** Quotes and escapes as written. */
  readonly message?: string;
  readonly span: Span;
}

export type Storage = "typedef" | "static" | "extern" | "inline" | "__global__";
export type Qualifier = "const" | "volatile" | "restrict" | "__constant__";

export interface Specs {
  readonly storage: readonly { readonly word: Storage; readonly span: Span }[];
  readonly qualifiers: readonly { readonly word: Qualifier; readonly span: Span }[];
  readonly attributes: readonly Attribute[];
  readonly type: TypeSpec;
  readonly span: Span;
}

export type TypeSpec =
  | { readonly kind: "words"; readonly words: readonly Name[]; readonly span: Span } // `unsigned long`
  | { readonly kind: "typedef-name"; readonly name: Name; readonly span: Span }
  | {
    readonly kind: "enum";
    readonly tag?: Name;
    readonly enumerators?: readonly Enumerator[];
    readonly span: Span;
  }
  | {
    readonly kind: "shaped";
    readonly element: TypeSpec;
    readonly shape: Shape;
    readonly span: Span;
  } // `float[T] x`
  | { readonly kind: "unknown"; readonly name: Name; readonly span: Span } // undeclared type name, E2001 already reported
  | { readonly kind: "missing"; readonly span: Span }; // no type at all (E3003, reported by the checker)

export interface Enumerator {
  readonly name: Name;
  readonly value?: Expr;
}

export interface Attribute {
  /** Without underscores: noalias readonly writeonly retune multipleof aligned; else as written (W4012). */
  readonly name: string;
  readonly argument?: Expr;
  readonly span: Span;
}

export interface PointerLevel {
  readonly qualifiers: readonly { readonly word: Qualifier; readonly span: Span }[];
  readonly span: Span;
}

export interface Shape {
  readonly dims: readonly Expr[];
  readonly span: Span;
  /** Number of bracket pairs: more than one is E3025 (`[A][B]`); `[]` has no dims. */
  readonly brackets: number;
}

/** `* * name [shape] attributes` or `name(params)`; nested parentheses are kept only to be rejected. */
export interface Declarator {
  readonly pointers: readonly PointerLevel[];
  readonly name?: Name;
  readonly nested?: Declarator;
  readonly shape?: Shape;
  readonly params?: Params;
  readonly attributes: readonly Attribute[];
  readonly span: Span;
}

export interface Params {
  readonly params: readonly Param[];
  /** `...` at the end (E4023). */
  readonly variadic?: Span;
  readonly span: Span;
}

export interface Param {
  readonly specs: Specs;
  readonly declarator: Declarator;
  readonly span: Span;
}

/** A type in a cast, `sizeof`, `bitcast` or an argument. */
export interface TypeName {
  readonly specs: Specs;
  readonly pointers: readonly PointerLevel[];
  readonly shape?: Shape;
  readonly span: Span;
}

// ---- statements -------------------------------------------------------------------------------------

export interface Block {
  readonly kind: "block";
  readonly items: readonly BlockItem[];
  readonly span: Span;
}

export type BlockItem = Declaration | StaticAssert | Stmt;

export type Stmt =
  | Block
  | { readonly kind: "empty"; readonly span: Span }
  | { readonly kind: "expression"; readonly expr: Expr; readonly span: Span }
  | {
    readonly kind: "if";
    readonly condition: Expr;
    readonly then: Stmt;
    readonly else?: Stmt;
    readonly span: Span;
  }
  | {
    readonly kind: "for";
    readonly init?: Declaration | Expr;
    readonly condition?: Expr;
    readonly step?: Expr;
    readonly body: Stmt;
    readonly hints: readonly LoopHint[];
    readonly span: Span;
  }
  | {
    readonly kind: "while";
    readonly condition: Expr;
    readonly body: Stmt;
    readonly hints: readonly LoopHint[];
    readonly span: Span;
  }
  | {
    readonly kind: "do";
    readonly body: Stmt;
    readonly condition: Expr;
    readonly hints: readonly LoopHint[];
    readonly span: Span;
  }
  | { readonly kind: "break"; readonly span: Span }
  | { readonly kind: "continue"; readonly span: Span }
  | { readonly kind: "return"; readonly value?: Expr; readonly span: Span }
  | { readonly kind: "error"; readonly span: Span }; // could not be parsed; reported

export interface LoopHint {
  readonly name: "unroll" | "num_stages" | "pipeline" | "flatten";
  readonly argument?: string; // text between the parentheses
  readonly span: Span;
}

// ---- expressions ------------------------------------------------------------------------------------

export type BinaryOperator =
  | "@"
  | "*"
  | "/"
  | "%"
  | "+"
  | "-"
  | "<<"
  | ">>"
  | "<"
  | "<="
  | ">"
  | ">="
  | "=="
  | "!="
  | "&"
  | "^"
  | "|"
  | "&&"
  | "||";
export type AssignOperator =
  | "="
  | "*="
  | "/="
  | "%="
  | "+="
  | "-="
  | "<<="
  | ">>="
  | "&="
  | "^="
  | "|=";
/** `&` and `.`/`->` are parsed only so that the checker can say E5001, E2002. */
export type UnaryOperator = "-" | "+" | "~" | "!" | "^" | "&";

export type Expr =
  | { readonly kind: "number"; readonly text: string; readonly span: Span }
  | { readonly kind: "char"; readonly text: string; readonly span: Span }
  | { readonly kind: "string"; readonly text: string; readonly span: Span } // quotes and escapes as written
  | { readonly kind: "bool"; readonly value: boolean; readonly span: Span }
  | { readonly kind: "name"; readonly name: string; readonly span: Span }
  | { readonly kind: "paren"; readonly inner: Expr; readonly span: Span }
  | {
    readonly kind: "call";
    readonly callee: Expr;
    readonly args: readonly Argument[];
    readonly span: Span;
  }
  | {
    readonly kind: "subscript";
    readonly base: Expr;
    readonly items: readonly Item[];
    readonly span: Span;
  }
  | {
    readonly kind: "member";
    readonly base: Expr;
    readonly arrow: boolean;
    readonly name: Name;
    readonly span: Span;
  }
  | {
    readonly kind: "step";
    readonly operator: "++" | "--";
    readonly prefix: boolean;
    readonly operand: Expr;
    readonly span: Span;
  }
  | {
    readonly kind: "unary";
    readonly operator: UnaryOperator;
    readonly operand: Expr;
    readonly span: Span;
  }
  | { readonly kind: "deref"; readonly mask?: Expr; readonly pointer: Expr; readonly span: Span } // `*p`, `*?(m) p`
  | { readonly kind: "cast"; readonly type: TypeName; readonly operand: Expr; readonly span: Span }
  | { readonly kind: "compound-literal"; readonly type: TypeName; readonly span: Span } // E5002, reported by the parser
  | {
    readonly kind: "sizeof-type";
    readonly operator: "sizeof" | "_Alignof";
    readonly type: TypeName;
    readonly span: Span;
  }
  | { readonly kind: "sizeof-expr"; readonly operand: Expr; readonly span: Span }
  | {
    readonly kind: "bitcast";
    readonly type: TypeName;
    readonly operand: Expr;
    readonly span: Span;
  }
  | { readonly kind: "range"; readonly lo: Expr; readonly hi: Expr; readonly span: Span }
  | {
    readonly kind: "binary";
    readonly operator: BinaryOperator;
    readonly lhs: Expr;
    readonly rhs: Expr;
    readonly operatorSpan: Span;
    readonly span: Span;
  }
  | {
    readonly kind: "conditional";
    readonly condition: Expr;
    readonly then?: Expr;
    readonly else: Expr;
    readonly operatorSpan: Span;
    readonly span: Span;
  }
  | {
    readonly kind: "assign";
    readonly operator: AssignOperator;
    readonly target: Expr;
    readonly value: Expr;
    readonly operatorSpan: Span;
    readonly span: Span;
  }
  | { readonly kind: "comma"; readonly lhs: Expr; readonly rhs: Expr; readonly span: Span }
  | { readonly kind: "error"; readonly span: Span }; // could not be parsed; reported

export type Argument =
  | { readonly kind: "expr"; readonly expr: Expr }
  | { readonly kind: "type"; readonly type: TypeName };

/** One item between `[` and `]` of a subscript. */
export type Item =
  | { readonly kind: "all"; readonly span: Span } // `:`
  | { readonly kind: "newaxis"; readonly span: Span }
  | { readonly kind: "reduce"; readonly operator: string; readonly span: Span } // `+`, `max`, …: any spelling before `,` or `]`
  | { readonly kind: "axis"; readonly axis: Expr; readonly span: Span } // `^k`
  | { readonly kind: "index"; readonly index: Expr; readonly span: Span };
