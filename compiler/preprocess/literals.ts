/**
 * Spelling to value for numbers, characters and strings (language.md, 2.2). Floating literals stay text,
 * because a weak one is rounded only when its type is known: once, from its decimal digits.
 */
import type { Code } from "../support/codes.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import { type FloatName, roundDecimal } from "./decimal.ts";

export { roundDecimal };

export type IntegerLiteral = {
  readonly kind: "int";
  readonly value: bigint;
  readonly type: ScalarName;
};
export type FloatLiteral = {
  readonly kind: "float";
  /** The digits without a suffix, for {@linkcode roundDecimal}. */
  readonly text: string;
  /** `weak`: the type of what it meets; `float32` next to nothing. */
  readonly type: FloatName | "weak";
};
export type LiteralError = {
  readonly kind: "error";
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
};

const MAX = {
  int32: 2n ** 31n - 1n,
  uint32: 2n ** 32n - 1n,
  int64: 2n ** 63n - 1n,
  uint64: 2n ** 64n - 1n,
} as const;
type IntName = keyof typeof MAX;

const BASES = [
  { name: "hexadecimal", prefix: /^0[xX]/, digits: /^[0-9A-Fa-f]*/ },
  { name: "binary", prefix: /^0[bB]/, digits: /^[01]*/ },
  { name: "octal", prefix: /^0(?=.)/, digits: /^[0-7]*/ },
  { name: "decimal", prefix: /^/, digits: /^[0-9]*/ },
] as const;

const FLOAT_SUFFIXES: Readonly<Record<string, FloatName | "weak">> = {
  "": "weak",
  f: "float32",
  h: "float16",
  bf: "bfloat16",
  l: "float64",
};

const DECIMAL_FLOAT = /^(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?/;
const HEX_FLOAT = /^0[xX](?:[0-9A-Fa-f]+\.?[0-9A-Fa-f]*|\.[0-9A-Fa-f]+)[pP][+-]?[0-9]+/;

/** What a number token means. */
export function parseNumber(text: string): IntegerLiteral | FloatLiteral | LiteralError {
  const hex = /^0[xX]/.test(text);
  const looksFloating = hex ? /[.pP]/.test(text) : /[.eE]/.test(text) && !/^0[bB]/.test(text);
  return looksFloating ? parseFloating(text, hex) : parseInteger(text);
}

function parseFloating(text: string, hex: boolean): FloatLiteral | LiteralError {
  const digits = (hex ? HEX_FLOAT : DECIMAL_FLOAT).exec(text)?.[0];
  if (digits === undefined) {
    const why = hex && !/[pP]/.test(text)
      ? "a hexadecimal one needs an exponent, as in `0x1.8p0`"
      : "its exponent has no digits";
    return {
      kind: "error",
      code: "E2011",
      message: `\`${text}\` is not a floating literal: ${why}`,
    };
  }
  const suffix = text.slice(digits.length);
  const type = floatSuffix(suffix);
  if (type === undefined) return badSuffix(text, suffix, "f, h, bf, l");
  const widest = type === "weak" ? "float64" : type;
  if (roundDecimal(digits, widest) === Infinity) {
    const message = `\`${text}\` is too large for \`${SCALARS[widest].spelling}\``;
    return { kind: "error", code: "E2013", message };
  }
  return { kind: "float", text: digits, type };
}

function floatSuffix(suffix: string): FloatName | "weak" | undefined {
  const lower = suffix.toLowerCase();
  return Object.hasOwn(FLOAT_SUFFIXES, lower) ? FLOAT_SUFFIXES[lower] : undefined;
}

function badSuffix(text: string, suffix: string, known: string): LiteralError {
  const message = `\`${suffix}\` is not a suffix of the literal \`${text}\``;
  return { kind: "error", code: "E2011", message, hint: `the suffixes are ${known}` };
}

/** Most numbers of a program: decimal, without a suffix, and they fit in an int. */
const PLAIN = /^(?:0|[1-9][0-9]{0,8})$/;

function parseInteger(text: string): IntegerLiteral | LiteralError {
  if (PLAIN.test(text)) return { kind: "int", value: BigInt(text), type: "int32" };
  const base = BASES.find(({ prefix }) => prefix.test(text)) ?? BASES[3];
  const prefix = base.name === "octal" ? "" : base.prefix.exec(text)?.[0] ?? "";
  const rest = text.slice(prefix.length);
  const digits = base.digits.exec(rest)?.[0] ?? "";
  const suffix = rest.slice(digits.length);
  if (base.name === "octal" && /^[0-9]*[89]/.test(rest)) {
    const message =
      `\`${text}\` is octal because it begins with 0, and 8 and 9 are not octal digits`;
    return { kind: "error", code: "E2012", message };
  }
  if (digits === "") {
    return { kind: "error", code: "E2011", message: `\`${text}\` has no ${base.name} digits` };
  }
  if (/^[0-9]/.test(suffix)) {
    const message = `\`${suffix[0]}\` is not a ${base.name} digit in \`${text}\``;
    return { kind: "error", code: "E2011", message };
  }
  if (!INTEGER_SUFFIX.test(suffix)) return badIntegerSuffix(text, digits, suffix, base.name);
  const decimal = base.name === "decimal";
  const value = BigInt(base.name === "octal" ? `0o0${digits}` : prefix + digits);
  const type = integerTypes(suffix, decimal).find((name) => value <= MAX[name]);
  if (type !== undefined) return { kind: "int", value, type };
  const fits = value <= MAX.uint64;
  const message = `\`${text}\` does not fit in 64 bits${fits ? " with a sign" : ""}`;
  const hint = fits ? { hint: `write \`${digits}u\`` } : {};
  return { kind: "error", code: "E2010", message, ...hint };
}

const INTEGER_SUFFIX = /^(?:ul{0,2}|l{1,2}u?)?$/i;

/** The types that a literal may have, in the order they are tried. */
function integerTypes(suffix: string, decimal: boolean): readonly IntName[] {
  const unsigned = /u/i.test(suffix);
  if (/l/i.test(suffix)) {
    return unsigned ? ["uint64"] : decimal ? ["int64"] : ["int64", "uint64"];
  }
  if (unsigned) return ["uint32", "uint64"];
  return decimal ? ["int32", "int64"] : ["int32", "uint32", "int64", "uint64"];
}

function badIntegerSuffix(
  text: string,
  digits: string,
  suffix: string,
  base: string,
): LiteralError {
  if (base !== "decimal" || floatSuffix(suffix) === undefined) {
    return badSuffix(text, suffix, "u, l, ul");
  }
  const message = `the suffix \`${suffix}\` needs a floating literal`;
  return { kind: "error", code: "E2011", message, hint: `write \`${digits}.0${suffix}\`` };
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?",
};

/** The value of a character token, quotes included in `text`; `char` is signed, so `'\xff'` is -1. */
export function parseChar(text: string): IntegerLiteral | LiteralError {
  const decoded = unescape(text.slice(1, -1));
  if (typeof decoded !== "string") return decoded;
  if (decoded.length !== 1) {
    const what = decoded.length === 0 ? "no character" : "more than one character";
    return { kind: "error", code: "E2014", message: `${text} holds ${what}` };
  }
  const code = decoded.charCodeAt(0);
  if (code > 0xff || text.charCodeAt(1) > 0x7f) {
    const message =
      `${text} is not ASCII; other characters are allowed only in comments and strings`;
    return { kind: "error", code: "E1006", message };
  }
  return { kind: "int", value: BigInt.asIntN(8, BigInt(code)), type: "int32" };
}

/** The characters of a string token, quotes included in `text`. */
export function parseString(text: string): { kind: "string"; value: string } | LiteralError {
  const decoded = unescape(text.slice(1, -1));
  return typeof decoded === "string" ? { kind: "string", value: decoded } : decoded;
}

function unescape(body: string): string | LiteralError {
  let bad: string | undefined;
  const decoded = body.replace(
    /\\(?:([0-7]{1,3})|x([0-9A-Fa-f]+)|([^]?))/g,
    (whole, octal?: string, hex?: string, simple?: string) => {
      const number = octal !== undefined
        ? parseInt(octal, 8)
        : hex !== undefined
        ? parseInt(hex, 16)
        : -1;
      if (number >= 0 && number <= 0xff) return String.fromCharCode(number);
      const char = simple !== undefined && Object.hasOwn(ESCAPES, simple)
        ? ESCAPES[simple]
        : undefined;
      if (char === undefined) bad ??= whole;
      return char ?? "";
    },
  );
  if (bad === undefined) return decoded;
  return { kind: "error", code: "E1006", message: `\`${bad}\` is not an escape sequence` };
}
