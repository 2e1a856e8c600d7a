/** Random syntax trees for property tests: every tree that the parser can build, and some it cannot (missing parentheses). */
import fc from "../property.ts";
import type {
  Attribute,
  Block,
  BlockItem,
  Declaration,
  Declarator,
  Expr,
  InitDeclarator,
  Item,
  LoopHint,
  Name,
  Param,
  PointerLevel,
  Shape,
  Specs,
  Stmt,
  TopItem,
  TypeName,
  TypeSpec,
  Unit,
} from "../../../compiler/parse/ast.ts";
import type { Span } from "../../../compiler/support/source.ts";

const span: Span = { file: { name: "<random>", text: "" }, start: 0, end: 0 };

const name = (text: string): Name => ({ text, span });
/** Names of values and of types differ, so that no random declaration hides a type. */
const VALUE_NAMES = ["a", "b", "rm", "px", "sum"];
const TYPE_NAMES = ["int32", "size_t", "acc_t"];

const optionally = <K extends string, T>(
  key: K,
  value: fc.Arbitrary<T>,
): fc.Arbitrary<{ [P in K]?: T }> =>
  fc.option(value, { nil: undefined }).map((v) =>
    (v === undefined ? {} : { [key]: v }) as { [P in K]?: T }
  );

const valueName = fc.constantFrom(...VALUE_NAMES);

/** A type, not an interface: `fc.letrec` wants an index signature. */
type Trees = {
  readonly expr: Expr;
  readonly item: Item;
  readonly typeName: TypeName;
  readonly specs: Specs;
  readonly typeSpec: TypeSpec;
  readonly shape: Shape;
  readonly attribute: Attribute;
  readonly declarator: Declarator;
  readonly param: Param;
  readonly init: InitDeclarator;
  readonly declaration: Declaration;
  readonly block: Block;
  readonly blockItem: BlockItem;
  readonly stmt: Stmt;
};

const BINARY = [
  ...[
    "@",
    "*",
    "/",
    "%",
    "+",
    "-",
    "<<",
    ">>",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&",
    "^",
    "|",
    "&&",
    "||",
  ],
] as const;

type OneOf<Kind extends Expr["kind"]> = Extract<Expr, { kind: Kind }>;
const list = <T>(value: fc.Arbitrary<T>, minLength: number, maxLength: number): fc.Arbitrary<T[]> =>
  fc.array(value, { minLength, maxLength });

const leaf: fc.Arbitrary<Expr> = fc.oneof(
  fc.constantFrom("0", "16", "0x1F", "1.5f", ".5", "1e3", "7ul").map((text): Expr => ({
    kind: "number",
    text,
    span,
  })),
  fc.constantFrom("'a'", "'\\n'").map((text): Expr => ({ kind: "char", text, span })),
  fc.boolean().map((value): Expr => ({ kind: "bool", value, span })),
  valueName.map((text): Expr => ({ kind: "name", name: text, span })),
  valueName.map((text): Expr => ({ kind: "name", name: text, span })),
);

const qualifiers = fc.subarray(["const", "volatile", "restrict"] as const)
  .map((words) => words.map((word) => ({ word, span })));

const pointer: fc.Arbitrary<PointerLevel> = qualifiers.map((found) => ({
  qualifiers: found,
  span,
}));

const hint: fc.Arbitrary<LoopHint> = fc.constantFrom<LoopHint[]>(
  { name: "unroll", span },
  { name: "unroll", argument: "4", span },
  { name: "num_stages", argument: "2", span },
  { name: "pipeline", argument: "off", span },
  { name: "flatten", span },
);

const WORDS = [["int"], ["float"], ["unsigned", "long"], ["half"], ["long", "long"], ["bool"]];

const trees = fc.letrec<Trees>((tie) => {
  const expr = tie("expr");
  const typeName = tie("typeName");
  const shape = tie("shape");
  const declarator = tie("declarator");
  const specs = tie("specs");
  const params = list(tie("param"), 0, 2).map((found) => ({ params: found, span }));
  const attributes = list(tie("attribute"), 0, 1);
  return {
    expr: fc.oneof(
      { maxDepth: 5, depthIdentifier: "expr" },
      { arbitrary: leaf, weight: 3 },
      { arbitrary: expr.map((inner): Expr => ({ kind: "paren", inner, span })), weight: 1 },
      {
        arbitrary: fc.tuple(fc.constantFrom(...BINARY), expr, expr).map((
          [operator, lhs, rhs],
        ): Expr => ({
          kind: "binary",
          operator,
          lhs,
          rhs,
          operatorSpan: span,
          span,
        })),
        weight: 6,
      },
      {
        arbitrary: fc.tuple(fc.constantFrom(...(["-", "+", "~", "!", "^", "&"] as const)), expr)
          .map(([operator, operand]): Expr => ({ kind: "unary", operator, operand, span })),
        weight: 3,
      },
      {
        arbitrary: fc.tuple(fc.constantFrom(...(["++", "--"] as const)), fc.boolean(), expr)
          .map(([operator, prefix, operand]): Expr => ({
            kind: "step",
            operator,
            prefix,
            operand,
            span,
          })),
        weight: 2,
      },
      {
        arbitrary: fc.tuple(optionally("mask", expr), expr)
          .map(([mask, found]): Expr => ({ kind: "deref", ...mask, pointer: found, span })),
        weight: 3,
      },
      {
        arbitrary: fc.tuple(expr, expr).map(([lo, hi]): OneOf<"range"> => ({
          kind: "range",
          lo,
          hi,
          span,
        })),
        weight: 2,
      },
      {
        arbitrary: fc.tuple(expr, optionally("then", expr), expr)
          .map(([condition, then, other]): Expr => ({
            kind: "conditional",
            condition,
            ...then,
            else: other,
            operatorSpan: span,
            span,
          })),
        weight: 2,
      },
      {
        arbitrary: fc.tuple(fc.constantFrom(...(["=", "+=", "^=", "<<="] as const)), expr, expr)
          .map(([operator, target, value]): Expr => ({
            kind: "assign",
            operator,
            target,
            value,
            operatorSpan: span,
            span,
          })),
        weight: 2,
      },
      {
        arbitrary: fc.tuple(expr, expr).map(([lhs, rhs]): Expr => ({
          kind: "comma",
          lhs,
          rhs,
          span,
        })),
        weight: 1,
      },
      {
        arbitrary: fc.tuple(
          expr,
          list(
            fc.oneof(
              expr.map((found) => ({ kind: "expr", expr: found }) as const),
              typeName.map((type) => ({ kind: "type", type }) as const),
            ),
            0,
            3,
          ),
        ).map(([callee, args]): Expr => ({ kind: "call", callee, args, span })),
        weight: 2,
      },
      {
        arbitrary: fc.tuple(expr, list(tie("item"), 1, 3))
          .map(([base, items]): Expr => ({ kind: "subscript", base, items, span })),
        weight: 3,
      },
      {
        arbitrary: fc.tuple(expr, fc.boolean())
          .map(([base, arrow]): Expr => ({ kind: "member", base, arrow, name: name("x"), span })),
        weight: 1,
      },
      {
        arbitrary: fc.tuple(typeName, expr).map(([type, operand]): Expr => ({
          kind: "cast",
          type,
          operand,
          span,
        })),
        weight: 2,
      },
      {
        arbitrary: fc.tuple(typeName, expr).map(([type, operand]): Expr => ({
          kind: "bitcast",
          type,
          operand,
          span,
        })),
        weight: 1,
      },
      {
        arbitrary: fc.tuple(fc.constantFrom(...(["sizeof", "_Alignof"] as const)), typeName)
          .map(([operator, type]): Expr => ({ kind: "sizeof-type", operator, type, span })),
        weight: 1,
      },
      {
        arbitrary: expr.map((operand): Expr => ({ kind: "sizeof-expr", operand, span })),
        weight: 1,
      },
    ),
    item: fc.oneof(
      fc.constantFrom<Item[]>({ kind: "all", span }, { kind: "newaxis", span }),
      fc.constantFrom("+", "*", "-", "&", "|", "max", "any").map((operator): Item => ({
        kind: "reduce",
        operator,
        span,
      })),
      expr.map((axis): Item => ({ kind: "axis", axis, span })),
      expr.map((index): Item => ({ kind: "index", index, span })),
    ),
    shape: list(expr, 1, 3).map((dims) => ({ dims, brackets: 1, span })),
    attribute: fc.oneof(
      fc.constantFrom("noalias", "readonly", "writeonly", "retune", "hot").map((text) => ({
        name: text,
        span,
      })),
      fc.tuple(fc.constantFrom("multipleof", "aligned", "noalias", "hot"), expr)
        .map(([text, argument]) => ({ name: text, argument, span })),
    ),
    typeSpec: fc.oneof(
      fc.constantFrom(...WORDS).map((words): TypeSpec => ({
        kind: "words",
        words: words.map(name),
        span,
      })),
      fc.constantFrom(...TYPE_NAMES).map((text): TypeSpec => ({
        kind: "typedef-name",
        name: name(text),
        span,
      })),
      fc.tuple(optionally("tag", fc.constant(name("E"))), list(optionally("value", expr), 1, 2))
        .map(([tag, values]): TypeSpec => ({
          kind: "enum",
          ...tag,
          enumerators: values.map((value, i) => ({ name: name(`E${i}`), ...value })),
          span,
        })),
    ),
    specs: fc.tuple(qualifiers, tie("typeSpec"), attributes).map(([found, type, after]) => ({
      storage: [],
      qualifiers: found,
      attributes: after,
      type,
      span,
    })),
    typeName: fc.tuple(specs, list(pointer, 0, 2), optionally("shape", shape))
      .map(([found, pointers, tile]) => ({ specs: found, pointers, ...tile, span })),
    declarator: fc.oneof(
      { maxDepth: 2, depthIdentifier: "declarator" },
      fc.tuple(list(pointer, 0, 2), valueName, optionally("shape", shape), attributes)
        .map(([pointers, text, tile, after]): Declarator => ({
          pointers,
          name: name(text),
          ...tile,
          attributes: after,
          span,
        })),
      fc.tuple(list(pointer, 0, 1), declarator, optionally("params", params))
        .map(([pointers, nested, found]): Declarator => ({
          pointers,
          nested,
          ...found,
          attributes: [],
          span,
        })),
    ),
    param: fc.tuple(specs, declarator).map(([found, declared]) => ({
      specs: found,
      declarator: declared,
      span,
    })),
    init: fc.tuple(declarator, optionally("initializer", list(expr, 1, 2)))
      .map(([declared, value]) => ({ declarator: declared, ...value, span })),
    declaration: fc.tuple(specs, fc.boolean(), shape, list(tie("init"), 1, 2)).map((
      [found, shaped, tile, inits],
    ) => ({
      kind: "declaration",
      specs: shaped
        ? { ...found, type: { kind: "shaped", element: found.type, shape: tile, span } }
        : found,
      inits,
      span,
    })),
    block: list(tie("blockItem"), 0, 3).map((items) => ({ kind: "block", items, span })),
    blockItem: fc.oneof(
      tie("declaration"),
      tie("stmt"),
      fc.tuple(expr, fc.boolean()).map(([condition, text]): BlockItem => ({
        kind: "static-assert",
        condition,
        ...(text && { message: '"text"' }),
        span,
      })),
    ),
    stmt: fc.oneof(
      { maxDepth: 3, depthIdentifier: "stmt" },
      // A product of two names would be a declaration if the first were unknown: all names are parameters.
      expr.map((found): Stmt => ({ kind: "expression", expr: found, span })),
      fc.constantFrom<Stmt[]>(
        { kind: "empty", span },
        { kind: "break", span },
        { kind: "continue", span },
      ),
      optionally("value", expr).map((value): Stmt => ({ kind: "return", ...value, span })),
      tie("block"),
      fc.tuple(expr, tie("stmt"), optionally("else", tie("stmt")))
        .map(([condition, then, other]): Stmt => ({ kind: "if", condition, then, ...other, span })),
      fc.tuple(expr, tie("stmt"), list(hint, 0, 2))
        .map(([condition, body, hints]): Stmt => ({ kind: "while", condition, body, hints, span })),
      fc.tuple(expr, tie("stmt"), list(hint, 0, 1))
        .map(([condition, body, hints]): Stmt => ({ kind: "do", body, condition, hints, span })),
      fc.tuple(
        optionally("init", fc.oneof(expr, tie("declaration"))),
        optionally("condition", expr),
        optionally("step", expr),
        tie("stmt"),
        list(hint, 0, 1),
      ).map(([init, condition, step, body, hints]): Stmt => ({
        kind: "for",
        ...init,
        ...condition,
        ...step,
        body,
        hints,
        span,
      })),
    ),
  };
});

/** Any expression over {@linkcode RANDOM_PRELUDE}'s names. */
export const randomExpr: fc.Arbitrary<Expr> = trees.expr;

/** Declares every name that random trees use. */
export const RANDOM_PRELUDE = "typedef float acc_t[16];\n\nint a, b, rm, px, sum;\n";

/** Any file; it stands below {@linkcode RANDOM_PRELUDE}. */
export const randomUnit: fc.Arbitrary<Unit> = fc.array(
  fc.oneof(
    trees.declaration,
    fc.tuple(
      trees.block,
      fc.array(trees.param, { maxLength: 2 }),
      fc.constantFrom("", "Adds.\n\n* two tiles"),
    )
      .map(([body, params, doc]): TopItem => ({
        kind: "function",
        specs: {
          storage: [{ word: "__global__", span }],
          qualifiers: [],
          attributes: [],
          type: { kind: "words", words: [name("void")], span },
          span,
        },
        declarator: {
          pointers: [],
          name: name("f"),
          params: { params, span },
          attributes: [],
          span,
        },
        body,
        span,
        doc,
      })),
  ),
  { maxLength: 3 },
).map((items) => ({ items }));
