/** The items of `#pragma tri`, one parser each; the grammar is in language.md, 10.3. */
import { joinSpans, type Span } from "../support/source.ts";
import { parseNumber } from "../preprocess/literals.ts";
import type {
  Axis,
  Binding,
  OptionSetting,
  PragmaInclude,
  PragmaItem,
  PragmaName,
  SpecializeCondition,
  TensorDescription,
} from "./pragma.ts";
import type { PragmaCursor } from "./pragma_cursor.ts";
import { computedAsIeee, isComputedAsIeee } from "../support/dot_modes.ts";
import {
  acceptsValue,
  isNumberOption,
  isOptionName,
  OPTION_AXES,
  OPTIONS,
  optionUsage,
} from "./pragma_options.ts";

/** An item without its span, which the caller adds. */
type ItemBody = DistributiveOmit<PragmaItem | PragmaInclude, "span">;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

type ItemParser = (cursor: PragmaCursor) => ItemBody;

const ITEMS: Readonly<Record<string, ItemParser>> = {
  include: (cursor) => ({
    kind: "include",
    file: cursor.string('the name of a file, as in `include "tiles.h"`'),
  }),
  kernel: (cursor) => ({
    kind: "kernel",
    names: cursor.list(() => cursor.name("a kernel's name")),
  }),
  variant: parseVariant,
  variants: (cursor) => ({ kind: "variants", axes: cursor.list(() => parseAxis(cursor)) }),
  config: parseConfig,
  configs: parseConfigs,
  key: parseKey,
  grid: parseGrid,
  tensor: (cursor) => ({ kind: "tensor", tensors: cursor.list(() => parseTensor(cursor)) }),
  require: parseRequire,
  noalias: parseNoalias,
  specialize: parseSpecialize,
};

/** Words that begin an item which is no option. */
export const ITEM_WORDS: readonly string[] = Object.keys(ITEMS);

/** Every word that may follow `#pragma tri`; `loop` is read elsewhere. */
export const PRAGMA_WORDS: readonly string[] = [...ITEM_WORDS, ...Object.keys(OPTIONS), "loop"];

/** Reads one whole item, to the end of its line. `before` is the span before its first word. */
export function parseItem(cursor: PragmaCursor, lastSpan: Span): PragmaItem | PragmaInclude {
  const start = cursor.token?.span ?? lastSpan;
  const body = parseBody(cursor);
  expectNoOption(cursor);
  cursor.expectEnd();
  return { ...body, span: joinSpans(start, lastSpan) };
}

function parseBody(cursor: PragmaCursor): ItemBody {
  if (isOptionName(cursor.token?.text ?? "")) {
    return { kind: "option", setting: parseOption(cursor) };
  }
  if (cursor.token === undefined) {
    cursor.failExpected("a word such as `grid`", { hint: `known are ${PRAGMA_WORDS.join(", ")}` });
  }
  const word = cursor.word("a word such as `grid`");
  const parse = Object.hasOwn(ITEMS, word.text) ? ITEMS[word.text] : undefined;
  if (parse !== undefined) return parse(cursor);
  if (word.text === "loop") {
    return cursor.fail("E9003", word.span, "a loop pragma must be directly before a loop");
  }
  return cursor.failUnknown(word, "pragma", PRAGMA_WORDS);
}

/** The name of a parameter, which no option has. */
function parseParameter(cursor: PragmaCursor): PragmaName {
  const name = cursor.name("a parameter's name");
  if (isOptionName(name.name) && OPTIONS[name.name].form === "number") {
    cursor.fail("E5003", name.span, `expected a parameter, found the option \`${name.name}\``, {
      hint: "options follow the parameters after a `;`, as in `config TM=64; num_warps=4`",
    });
  }
  return name;
}

/** `name = value` */
function parseBinding(cursor: PragmaCursor): Binding {
  const name = parseParameter(cursor);
  cursor.expect("=");
  return { ...name, value: cursor.value([",", ";", "if", ...OPTION_AXES]) };
}

/** `config TM=64 num_warps=4` */
function expectNoOption(cursor: PragmaCursor): void {
  const { token } = cursor;
  if (token === undefined || !isOptionName(token.text) || !isNumberOption(token.text)) return;
  cursor.fail("E5003", token.span, `expected \`;\` before the option \`${token.text}\``, {
    fix: { span: token.span, replacement: `; ${token.text}` },
  });
}

/** `config TM=64 if TYPE == half` */
function expectNoCondition(cursor: PragmaCursor): void {
  const { token } = cursor;
  if (token?.text !== "if") return;
  cursor.fail("E5003", token.span, "`config` takes no condition", {
    hint: "write `configs`, with the values in braces: `configs TM in {64} if sizeof(TYPE) == 2`",
  });
}

/** `name in { value, … }` */
function parseAxis(cursor: PragmaCursor): Axis {
  const name = parseParameter(cursor);
  return { ...name, values: parseAxisValues(cursor).map(({ value }) => value) };
}

function parseAxisValues(cursor: PragmaCursor): { value: string; span: Span }[] {
  cursor.expect("in");
  cursor.expect("{");
  const values = cursor.list(() => {
    const span = cursor.token?.span;
    const value = cursor.value([",", ";", "}"]);
    return { value, span: span ?? cursor.failExpected("a value") };
  });
  cursor.expect("}");
  return values;
}

function parseVariant(cursor: PragmaCursor): ItemBody {
  const named = cursor.ahead(1)?.text === ":";
  const name = named ? cursor.name("the variant's name") : undefined;
  if (named) cursor.expect(":");
  const bindings = cursor.list(() => parseBinding(cursor));
  return { kind: "variant", bindings, ...(name === undefined ? {} : { name }) };
}

function parseConfig(cursor: PragmaCursor): ItemBody {
  const bare = cursor.token === undefined || cursor.token.text === ";";
  const bindings = bare ? [] : cursor.list(() => parseBinding(cursor));
  expectNoCondition(cursor);
  const options = cursor.accept(";") !== undefined ? cursor.list(() => parseOption(cursor)) : [];
  expectNoCondition(cursor);
  return { kind: "config", bindings, options };
}

function parseConfigs(cursor: PragmaCursor): ItemBody {
  const axes = cursor.list(() => parseAxis(cursor));
  const optionAxes = cursor.accept(";") !== undefined
    ? cursor.list(() => parseOptionAxis(cursor))
    : [];
  const condition = cursor.accept("if") !== undefined ? cursor.text([], "a condition") : undefined;
  return { kind: "configs", axes, optionAxes, ...(condition === undefined ? {} : { condition }) };
}

/** `num_warps in { 4, 8 }` */
function parseOptionAxis(cursor: PragmaCursor): Axis {
  const { token } = cursor;
  const name = cursor.name("`num_warps`, `num_stages` or `max_registers`");
  const option = name.name;
  if (!isOptionName(option) || !OPTION_AXES.includes(option)) {
    return cursor.failUnknown(
      token ?? cursor.failExpected("an option"),
      "option axis",
      OPTION_AXES,
    );
  }
  const values = parseAxisValues(cursor);
  for (const { value, span } of values) {
    if (!acceptsValue(option, value)) failValue(cursor, span, option, value);
  }
  return { ...name, values: values.map(({ value }) => value) };
}

/** Whether a value is computed for each instance: it is more than a literal. */
function isComputed(option: keyof typeof OPTIONS, text: string): boolean {
  return OPTIONS[option].form === "number" && !/^[0-9]\w*$/.test(text);
}

/** `name`, `name = expr` or `name ( word )` */
function parseOption(cursor: PragmaCursor): OptionSetting {
  const { token } = cursor;
  const name = cursor.name("an option");
  const option = name.name;
  if (!isOptionName(option)) {
    return cursor.failUnknown(
      token ?? cursor.failExpected("an option"),
      "option",
      Object.keys(OPTIONS),
    );
  }
  const equals = cursor.accept("=");
  const open = equals === undefined ? cursor.accept("(") : undefined;
  const form = equals !== undefined ? "number" : open !== undefined ? "word" : undefined;
  const given = cursor.token;
  const text = form === undefined ? undefined : cursor.text([",", ";", ")", "if"], "a value");
  const value = text?.text;
  if (open !== undefined) cursor.expect(")");
  if (equals !== undefined && text !== undefined && isComputed(option, text.text)) {
    return { ...name, expression: text };
  }
  if (!acceptsValue(option, value)) failValue(cursor, given?.span ?? name.span, option, value);
  if (form !== undefined && form !== OPTIONS[option].form) {
    const sign = equals ?? open;
    cursor.fail("E5003", sign?.span ?? name.span, `invalid syntax of option \`${option}\``, {
      hint: optionUsage(option),
    });
  }
  if (option === "dot" && value !== undefined && isComputedAsIeee(value)) {
    cursor.warn("W9017", given?.span ?? name.span, ...computedAsIeee(value));
  }
  return { ...name, ...(value === undefined ? {} : { value }) };
}

function failValue(
  cursor: PragmaCursor,
  span: Span,
  option: keyof typeof OPTIONS,
  value: string | undefined,
): never {
  const message = value === undefined
    ? `option \`${option}\` needs a value`
    : `\`${value}\` is not a value of option \`${option}\``;
  return cursor.fail("E9014", span, message, { hint: optionUsage(option) });
}

function parseKey(cursor: PragmaCursor): ItemBody {
  cursor.expect("(");
  const empty = cursor.token?.text === ")";
  const names = empty ? [] : cursor.list(() => cursor.name("a parameter's name"));
  cursor.expect(")");
  return { kind: "key", names };
}

function parseGrid(cursor: PragmaCursor): ItemBody {
  const extents = cursor.texts("(", ")", "an extent");
  const [, , , fourth] = extents;
  if (fourth !== undefined) {
    cursor.fail("E5003", fourth.span, "expected at most three extents of the grid");
  }
  return { kind: "grid", extents };
}

/** How a kernel uses a tensor. */
export const DIRECTIONS: readonly string[] = ["in", "out", "inout"];

function isDirection(
  text: string | undefined,
): text is NonNullable<TensorDescription["direction"]> {
  return text !== undefined && DIRECTIONS.includes(text);
}

const FLAGS = ["contiguous", "optional", "noalias", "reread"] as const;
/** The words after the extents of a tensor. */
export const TENSOR_WORDS: readonly string[] = ["strides", "align", ...FLAGS];

function isFlag(text: string): text is typeof FLAGS[number] {
  return FLAGS.some((flag) => flag === text);
}

/** `P : in TYPE[M, N] strides [ldx, 1] align(16)` */
function parseTensor(cursor: PragmaCursor): TensorDescription {
  const param = cursor.name("a pointer parameter's name");
  cursor.expect(":");
  const direction = cursor.token?.text;
  if (isDirection(direction)) cursor.word("a direction");
  const type = cursor.token?.text === "[" ? undefined : cursor.text(["["], "`[` and the extents");
  const extents = cursor.texts("[", "]", "an extent");
  const strides = cursor.accept("strides") !== undefined
    ? cursor.texts("[", "]", "a stride")
    : undefined;
  const attributes = { contiguous: false, optional: false, noalias: false, reread: false };
  let align: number | undefined;
  while (cursor.token !== undefined && cursor.token.text !== ",") {
    const word = cursor.word("`align(…)`, `contiguous`, `optional`, `noalias` or `reread`");
    if (word.text === "align") align = parseAlign(cursor);
    else if (isFlag(word.text)) {
      attributes[word.text] = true;
      if (word.text === "contiguous" && strides !== undefined) {
        cursor.warn("W9017", word.span, "`contiguous` is ignored: `strides` are stated", {
          hint: "remove one of them; row-major strides are the default",
        });
      }
    } else {
      cursor.failUnknown(word, "tensor attribute", [
        "align",
        ...Object.keys(attributes),
        "strides",
      ]);
    }
  }
  return {
    span: cursor.since(param.span),
    param,
    extents,
    ...attributes,
    ...(isDirection(direction) ? { direction } : {}),
    ...(type === undefined ? {} : { type }),
    ...(strides === undefined ? {} : { strides }),
    ...(align === undefined ? {} : { align }),
  };
}

function parseAlign(cursor: PragmaCursor): number {
  cursor.expect("(");
  const { token } = cursor;
  const [only, ...more] = cursor.takeUntil([")"], "a number of bytes");
  const literal = only?.kind === "number" ? parseNumber(only.text) : undefined;
  const value = literal?.kind === "int" && more.length === 0 ? literal.value : 0n;
  if (value <= 0n || (value & (value - 1n)) !== 0n) {
    const span = token?.span ?? cursor.failExpected("a number of bytes");
    cursor.fail("E9014", span, "an alignment is a power of two, in bytes");
  }
  cursor.expect(")");
  return Number(value);
}

function parseRequire(cursor: PragmaCursor): ItemBody {
  cursor.expect("(");
  const condition = cursor.text([",", ")"], "a condition");
  const message = cursor.accept(",") !== undefined
    ? cursor.string("a message in quotes")
    : undefined;
  cursor.expect(")");
  return { kind: "require", condition, ...(message === undefined ? {} : { message }) };
}

function parseNoalias(cursor: PragmaCursor): ItemBody {
  cursor.expect("(");
  const all = cursor.token?.text === "all" && cursor.ahead(1)?.text === ")";
  const names = cursor.list(() => cursor.name("`all` or a parameter's name"));
  cursor.expect(")");
  return { kind: "noalias", names: all ? "all" : names };
}

function parseSpecialize(cursor: PragmaCursor): ItemBody {
  cursor.expect("(");
  if (cursor.token?.text === "off" && cursor.ahead(1)?.text === ")") {
    cursor.expect("off");
    cursor.expect(")");
    return { kind: "specialize", mode: "off", options: [] };
  }
  const mode = cursor.list(() => parseSpecializeCondition(cursor));
  cursor.expect(")");
  const over = cursor.accept("for") === undefined ? {} : { over: parseAxis(cursor) };
  const options = cursor.accept(";") === undefined
    ? []
    : cursor.list(() => parseNumberOption(cursor));
  return { kind: "specialize", mode, ...over, options };
}

/** `num_warps = expr`; an option that has a number. */
function parseNumberOption(cursor: PragmaCursor): OptionSetting {
  const { token } = cursor;
  const isNumber = isOptionName(token?.text ?? "") && isNumberOption(token?.text ?? "");
  if (isNumber) return parseOption(cursor);
  return cursor.failUnknown(
    token ?? cursor.failExpected("an option"),
    "option of specialisations",
    OPTION_AXES,
  );
}

/** `auto`, `auto && e` or `e` */
function parseSpecializeCondition(cursor: PragmaCursor): SpecializeCondition {
  const isAutomatic = cursor.accept("auto") !== undefined;
  if (isAutomatic && cursor.accept("&&") === undefined) return { isAutomatic };
  return {
    isAutomatic,
    condition: cursor.text([",", ")"], "`auto`, `off` or a condition"),
  };
}
