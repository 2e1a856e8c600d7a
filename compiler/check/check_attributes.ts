/** Attributes of parameters and local variables (language.md, 4.3). */
import type { Span } from "../support/source.ts";
import type * as ast from "../parse/ast.ts";
import { spellType } from "./tree/types.ts";
import type { ParamAttributes, ValueType } from "./tree/typed.ts";
import type { Context } from "./check_context.ts";
import { classOf } from "./expressions/convert.ts";
import { checkConstant } from "./check_type.ts";
import { elementOf } from "./tree/value_types.ts";

type Flag = "noalias" | "readonly" | "writeonly" | "retune";
const FLAGS: Readonly<Record<Flag, { readonly needsPointer: boolean }>> = {
  noalias: { needsPointer: true },
  readonly: { needsPointer: true },
  writeonly: { needsPointer: true },
  retune: { needsPointer: false },
};

/** A name's attributes, from its specifiers and its declarator. */
export function resolveAttributes(
  cx: Context,
  specs: ast.Specs,
  declarator: ast.Declarator,
  type: ValueType,
  isParam: boolean,
): ParamAttributes {
  const flags = { noalias: false, readonly: false, writeonly: false, retune: false };
  let multipleof: number | undefined;
  let aligned: number | undefined;
  const misplaced = (span: Span, name: string, where: string): void => {
    cx.reporter.error(
      "E4011",
      span,
      `\`${name}\` applies to ${where}, not to ${
        isParam ? "a parameter" : "a local variable"
      } of type ${spellType(type)}`,
    );
  };
  for (const attribute of [...specs.attributes, ...declarator.attributes]) {
    const { name, span } = attribute;
    if (name === "multipleof") {
      const kind = classOf(elementOf(type));
      if (kind !== "integer") misplaced(span, "__multipleof", "integers");
      else multipleof = checkNumber(cx, attribute, false);
    } else if (name === "aligned") {
      if (type.kind !== "pointer") misplaced(span, "__aligned", "pointers");
      else aligned = checkNumber(cx, attribute, true);
    } else if (isFlag(name)) {
      const { needsPointer } = FLAGS[name];
      const fits = isParam && (!needsPointer || type.kind === "pointer");
      if (name === "retune" && fits && !mayRetune(type)) {
        cx.reporter.warn(
          "W4017",
          span,
          `\`__retune\` has no effect on a parameter of type ${spellType(type)}`,
          { hint: "a tuning key has integers and `bool`: leave it out, or put it on one of those" },
        );
      } else if (fits) flags[name] = true;
      else misplaced(span, `__${name}`, needsPointer ? "pointer parameters" : "parameters");
    } else {
      cx.reporter.warn("W4012", span, `unknown attribute \`${name}\`; it has no effect`);
    }
  }
  for (const { word, span } of restricts(specs, declarator)) {
    if (isParam && type.kind === "pointer") flags.noalias = true;
    else misplaced(span, word, "pointer parameters");
  }
  return {
    ...flags,
    ...(multipleof === undefined ? {} : { multipleof }),
    ...(aligned === undefined ? {} : { aligned }),
  };
}

/** Parameters of kernels have no other types than scalars and pointers. */
function mayRetune(type: ValueType): boolean {
  const kind = classOf(elementOf(type));
  return kind === "integer" || kind === "bool";
}

function isFlag(name: string): name is Flag {
  return Object.hasOwn(FLAGS, name);
}

function restricts(
  specs: ast.Specs,
  declarator: ast.Declarator,
): readonly { readonly word: ast.Qualifier; readonly span: Span }[] {
  return [specs, ...declarator.pointers].flatMap(({ qualifiers }) =>
    qualifiers.filter(({ word }) => word === "restrict")
  );
}

/** The N of `__multipleof(N)` or `__aligned(N)` (E4010). */
function checkNumber(
  cx: Context,
  { name, argument, span }: ast.Attribute,
  powerOfTwo: boolean,
): number | undefined {
  if (argument === undefined) {
    cx.reporter.error("E4010", span, `\`${name}\` needs a number: \`__${name}(16)\``);
    return undefined;
  }
  const value = checkConstant(cx, argument, `the number of \`__${name}\``, "E4010");
  if (value === undefined) return undefined;
  const fits = value >= 1n && value < 2n ** 31n && (!powerOfTwo || (value & (value - 1n)) === 0n);
  if (fits) return Number(value);
  const wanted = powerOfTwo ? "a power of two" : "at least 1";
  cx.reporter.error(
    "E4010",
    argument.span,
    `the number of \`__${name}\` is ${value}; it must be ${wanted}`,
  );
  return undefined;
}
