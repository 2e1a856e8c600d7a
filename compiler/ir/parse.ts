/**
 * Reads the text that `printFunc` writes, for tests and for going on from a dump. The text is ours, so a
 * mistake in it is a {@linkcode CompilerBug} with the line. Spans point into the text itself.
 */
import { axisShifts, INPUTS, type LinearLayout, log2 } from "../linear/linear.ts";
import type { SharedLayout } from "../linear/shared_layout.ts";
import { bug, must } from "../support/bug.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import { lineText, positionOf, type SourceFile, type Span } from "../support/source.ts";
import {
  type Attrs,
  type AttrValue,
  type Func,
  newFunc,
  newUncheckedOp,
  newValue,
  type Op,
  type ParamFacts,
  type Region,
  type Value,
} from "./func.ts";
import { TILE_OPS, type TileOp, type TileOpRow } from "./ops.ts";
import { isBareAttr } from "./print.ts";
import { isTileOp, requiredKind } from "./table.ts";
import {
  isMapElement,
  type MapExpr,
  parseMapExpr,
  SWIZZLES,
  type TensorMap,
  type TensorMapAxis,
} from "./tensor_map.ts";
import type { Element, IrType } from "./types.ts";
import { parseString, type Token, tokenize, type TokenKind } from "./tokens.ts";

export function parseFunc(text: string, name = "<ir>"): Func {
  return new Parser({ name, text }).func();
}

class Parser {
  readonly #file: SourceFile;
  readonly #tokens: readonly Token[];
  readonly #values = new Map<string, Value>();
  readonly #layouts = new Map<string, LinearLayout>();
  readonly #sharedLayouts = new Map<string, SharedLayout>();
  #at = 0;

  constructor(file: SourceFile) {
    this.#file = file;
    this.#tokens = tokenize(file);
  }

  /** layout* 'func' @name '(' params ')' [ 'shared' '(' bytes ')' ] map* '{' op* '}' */
  func(): Func {
    while (this.#peek().kind === "layout") this.#layout();
    this.#word("func");
    const func = newFunc(this.#take("symbol").text.slice(1));
    this.#list("(", ")", () => {
      func.params.push(this.#definition(func));
      func.paramFacts.push(this.#facts());
    });
    if (this.#peek().text === "shared") {
      this.#at++;
      this.#mark("(");
      func.sharedBytes = Number(this.#take("number").text);
      this.#mark(")");
    }
    const maps: TensorMap[] = [];
    while (this.#peek().text === "map") maps.push(this.#map());
    func.maps = maps;
    this.#mark("{");
    this.#ops(func, func.body);
    this.#take("end");
    return func;
  }

  /** 'map' '(' param element axis {',' axis} [ 'box' shape 'swizzle' bytes ] ')' */
  #map(): TensorMap {
    this.#word("map");
    this.#mark("(");
    const param = this.#take("word").text;
    const { text: element } = this.#take("word");
    if (!isMapElement(element)) return this.#fail("an element type");
    const axes: TensorMapAxis[] = [];
    do {
      const [extent, stride] = [this.#expr(), this.#expr()];
      const tile = this.#skip("-") ? undefined : Number(this.#take("number").text);
      const run = this.#run();
      axes.push({ extent, stride, tile, run, windows: this.#windows() });
    } while (this.#skip(","));
    if (this.#skip(")")) return { param, element, axes };
    this.#word("box");
    const box = this.#shape();
    this.#word("swizzle");
    const bytes = Number(this.#take("number").text);
    const swizzle = SWIZZLES.find((one) => one === bytes) ?? this.#fail("a swizzle");
    this.#mark(")");
    return { param, element, axes, copied: { box, swizzle } };
  }

  #run(): number | undefined {
    if (this.#peek().text !== "runs") return undefined;
    this.#word("runs");
    return Number(this.#take("number").text);
  }

  #windows(): TensorMapAxis["windows"] {
    if (this.#peek().text !== "windows") return undefined;
    this.#word("windows");
    const [lower, upper] = [this.#expr(), this.#expr()];
    return { lower, upper, step: this.#expr() };
  }

  #expr(): MapExpr {
    return parseMapExpr(parseString(this.#take("string").text));
  }

  /**
   * #l0 '=' shape 'register' '(' basis* ')' 'lane' … 'warp' …, or
   * #s0 '=' shape 'offset' '(' basis* ')' 'vector' '(' elements ')'
   */
  #layout(): void {
    const name = this.#take("layout").text;
    this.#mark("=");
    const shape = this.#shape();
    if (name.startsWith("#s")) {
      const columns = this.#bases("offset", shape);
      this.#word("vector");
      this.#mark("(");
      const vectorBits = log2(Number(this.#take("number").text));
      this.#mark(")");
      this.#sharedLayouts.set(name, { shape, columns, vectorBits });
      return;
    }
    const [register, lane, warp, block = []] = INPUTS.map((input) =>
      input === "block" && this.#peek().text !== input ? [] : this.#bases(input, shape)
    );
    this.#layouts.set(name, {
      shape,
      register: must(register, "register bases"),
      lane: must(lane, "lane bases"),
      warp: must(warp, "warp bases"),
      block,
    });
  }

  /** name '(' basis* ')' */
  #bases(name: string, shape: readonly number[]): number[] {
    this.#word(name);
    this.#mark("(");
    const bases: number[] = [];
    while (!this.#skip(")")) bases.push(this.#basis(shape));
    return bases;
  }

  /** '-' or a0^b1: bit 0 of axis 0 and bit 1 of axis 1. */
  #basis(shape: readonly number[]): number {
    if (this.#skip("-")) return 0;
    const shifts = axisShifts(shape);
    let basis = 0;
    do {
      const { text } = this.#take("word");
      const shift = shifts[text.charCodeAt(0) - 97] ?? this.#fail("an axis");
      basis ^= 1 << (shift + Number(text.slice(1)));
    } while (this.#skip("^"));
    return basis;
  }

  /** Up to the closing brace. */
  #ops(func: Func, region: Region): void {
    while (!this.#skip("}")) region.ops.push(this.#op(func));
  }

  /** [ definition {',' definition} '=' ] name operands attributes region* */
  #op(func: Func): Op {
    const start = this.#peek().start;
    const definitions: { readonly token: Token; readonly name?: string; readonly type: IrType }[] =
      [];
    if (this.#peek().kind === "value") {
      do definitions.push(this.#header()); while (this.#skip(","));
      this.#mark("=");
    }
    const token = this.#take("word");
    const word = token.text;
    if (!isTileOp(word)) return this.#fail("an operation", token);
    const { args, regions: names = [] }: TileOpRow = TILE_OPS[word];
    const operands: Value[] = [];
    // What takes no operands may be before a line that begins with a value.
    if (Object.keys(args).length > 0 && this.#peek().kind === "value") {
      do operands.push(this.#use()); while (this.#skip(","));
    }
    const attrs = this.#attrs(word);
    const span: Span = { file: this.#file, start, end: this.#tokens[this.#at - 1]?.start ?? start };
    const regions: Region[] = [];
    const op = newUncheckedOp(
      func,
      word,
      operands,
      definitions.map(({ type }) => type),
      span,
      attrs,
      regions,
    );
    definitions.forEach(({ token, name }, index) => {
      const value = must(op.results[index], "result");
      if (name !== undefined) value.name = name;
      this.#define(token, value);
    });
    while (regions.length < names.length) {
      regions.push(this.#region(func));
    }
    return op;
  }

  /** [ '(' params ')' ] '{' op* '}' */
  #region(func: Func): Region {
    const region: Region = { params: [], ops: [] };
    if (this.#peek().text === "(") {
      this.#list("(", ")", () => region.params.push(this.#definition(func)));
    }
    this.#mark("{");
    this.#ops(func, region);
    return region;
  }

  /** %0 [name] ':' type */
  #header(): { token: Token; name?: string; type: IrType } {
    const token = this.#take("value");
    const name = this.#peek().kind === "word" ? this.#take("word").text : undefined;
    this.#mark(":");
    const type = this.#type();
    return name === undefined ? { token, type } : { token, name, type };
  }

  #definition(func: Func): Value {
    const { token, name, type } = this.#header();
    const value = newValue(func, type, name);
    this.#define(token, value);
    return value;
  }

  #define(token: Token, value: Value): void {
    if (this.#values.has(token.text)) {
      this.#fail(`a value other than ${token.text}, which is defined already,`, token);
    }
    this.#values.set(token.text, value);
  }

  #use(): Value {
    const token = this.#take("value");
    return this.#values.get(token.text) ?? this.#fail("a defined value", token);
  }

  /** element [ shape [ #layout | 'shared' #layout ] ] */
  #type(): IrType {
    const element = this.#element();
    const shape = this.#peek().text === "[" ? this.#shape() : [];
    const isShared = this.#peek().text === "shared";
    if (isShared) this.#at++;
    if (!isShared && this.#peek().kind !== "layout") return { element, shape };
    const token = this.#take("layout");
    if (isShared) {
      const shared = this.#sharedLayouts.get(token.text) ?? this.#fail("a shared layout", token);
      return { element, shape, shared };
    }
    return {
      element,
      shape,
      layout: this.#layouts.get(token.text) ?? this.#fail("a layout of the list", token),
    };
  }

  /** name { ['constant'] '*' } */
  #element(): Element {
    const token = this.#take("word");
    let element: Element | "void" = isScalar(token.text) || token.text === "void"
      ? token.text
      : this.#fail("an element type", token);
    for (;;) {
      const space = this.#peek().text === "constant" ? "constant" : "global";
      if (space === "constant") this.#at++;
      if (this.#skip("*")) element = { kind: "pointer", pointee: element, space };
      else return element === "void" ? this.#fail("`*`") : element;
    }
  }

  #shape(): number[] {
    const shape: number[] = [];
    this.#list("[", "]", () => shape.push(Number(this.#take("number").text)));
    return shape;
  }

  #facts(): ParamFacts {
    const facts: { -readonly [K in keyof ParamFacts]: ParamFacts[K] } = {
      ...{ multipleof: 1, noalias: false, readonly: false, writeonly: false },
    };
    if (this.#peek().text !== "{") return facts;
    this.#list("{", "}", () => {
      const { text } = this.#take("word");
      if (text === "multipleof" || text === "least" || text === "most") {
        this.#mark("=");
        facts[text] = Number(this.#take("number").text);
      } else if (text === "noalias" || text === "readonly" || text === "writeonly") {
        facts[text] = true;
      } else this.#fail("a fact of a parameter");
    });
    return facts;
  }

  /** Nothing, a bare value, or `{name = value, …}`; which of them the op's row says. */
  #attrs(name: TileOp): Attrs {
    const row: TileOpRow = TILE_OPS[name];
    const kinds = Object.entries(row.attrs ?? {});
    const attrs: Record<string, AttrValue> = {};
    for (const [key, kind] of kinds) {
      if (isBareAttr(row)) attrs[key] = this.#attrValue(name, key);
      else if (kind === "ints" || kind === "strings") attrs[key] = [];
    }
    // A brace that no `name =` follows opens a region.
    const isList = this.#peek().text === "{" && this.#tokens[this.#at + 2]?.text === "=" &&
      this.#tokens[this.#at + 1]?.kind === "word";
    if (isBareAttr(row) || kinds.length === 0 || !isList) return attrs;
    this.#list("{", "}", () => {
      const key = this.#take("word").text;
      this.#mark("=");
      attrs[key] = this.#attrValue(name, key);
    });
    return attrs;
  }

  #attrValue(op: TileOp, key: string): AttrValue {
    const { attrs }: TileOpRow = TILE_OPS[op];
    const kind = attrs?.[key];
    switch (kind && requiredKind(kind)) {
      case "int":
        return Number(this.#take("number").text);
      case "number":
        return this.#number();
      case "ints":
        return this.#shape();
      case "access":
      case "string":
        return parseString(this.#take("string").text);
      case "bool": {
        const token = this.#take("word");
        return token.text === "true" ||
          (token.text !== "false" && this.#fail("a truth value", token));
      }
      case "strings": {
        const strings: string[] = [];
        this.#list("[", "]", () => strings.push(parseString(this.#take("string").text)));
        return strings;
      }
      default:
        return this.#fail(`an attribute of ${op}`);
    }
  }

  #number(): number | bigint {
    if (this.#peek().kind === "word") {
      const { text } = this.#take("word");
      return text === "nan" ? NaN : text === "inf" ? Infinity : this.#fail("a number");
    }
    const { text } = this.#take("number");
    if (text === "-inf") return -Infinity;
    return /[.e]/.test(text) ? Number(text) : BigInt(text);
  }

  #list(open: string, close: string, item: () => void): void {
    this.#mark(open);
    if (this.#skip(close)) return;
    do item(); while (this.#skip(","));
    this.#mark(close);
  }

  #peek(): Token {
    return must(this.#tokens[this.#at], "end token");
  }

  #take(kind: TokenKind): Token {
    const token = this.#peek();
    if (token.kind !== kind) this.#fail(kind);
    this.#at++;
    return token;
  }

  #skip(text: string): boolean {
    if (this.#peek().kind !== "mark" || this.#peek().text !== text) return false;
    this.#at++;
    return true;
  }

  #mark(text: string): void {
    if (!this.#skip(text)) this.#fail(`\`${text}\``);
  }

  #word(text: string): void {
    if (this.#take("word").text !== text) this.#fail(`\`${text}\``);
  }

  #fail(expected: string, token = this.#peek()): never {
    const { line } = positionOf(this.#file, token.start);
    return bug(
      `${this.#file.name}, line ${line}: expected ${expected}, found \`${token.text}\` in \`${
        lineText(this.#file, line).trim()
      }\``,
    );
  }
}

const isScalar = (name: string): name is ScalarName => Object.hasOwn(SCALARS, name);
