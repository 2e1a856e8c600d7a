/**
 * Spelling to value for numbers, characters and strings (language.md, 2.2). Floating literals stay text,
 * because a weak one is rounded only when its type is known: once, from its decimal digits.
 */
import type { Code } from "../support/codes.ts";
import type { ScalarName } from "../support/scalar.ts";
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
  const known = Object.hasOwn(FLOAT_SUFFIXES, suffix.toLowerCase());
  const type = known ? FLOAT_SUFFIXES[suffix.toLowerCase()] : undefined;
  if (type === undefined) return badSuffix(text, suffix, "f, h, bf, l");
  if (roundDecimal(digits, type === "weak" ? "float64" : type) === Infinity) {
    const name = { weak: "double", float32: "float", float16: "half", bfloat16: "bfloat16" };
    const shown = type in name ? name[type as keyof typeof name] : "double";
    return { kind: "error", code: "E2013", message: `\`${text}\` is too large for ${shown}` };
  }
  return { kind: "float", text: digits, type };
}

function badSuffix(text: string, suffix: string, known: string): LiteralError {
  const message = `\`${suffix}\` is no suffix of the literal \`${text}\``;
  return { kind: "error", code: "E2011", message, hint: `the suffixes are ${known}` };
}

function parseInteger(text: string): IntegerLiteral | LiteralError {
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
  const suffixMatch = /^(?:(u)(l{0,2})|(l{1,2})(u?))?$/i.exec(suffix);
  if (suffixMatch === null) {
    const floating = FLOAT_SUFFIXES[suffix.toLowerCase()] !== undefined && base.name === "decimal";
    return floating
      ? {
        kind: "error",
        code: "E2011",
        message: `the suffix \`${suffix}\` needs a floating literal`,
        hint: `write \`${digits}.0${suffix}\``,
      }
      : badSuffix(text, suffix, "u, l, ul");
  }
  const unsigned = /u/i.test(suffix);
  const long = /l/i.test(suffix);
  const decimal = base.name === "decimal";
  const literal = base.name === "octal" ? `0o${digits.replace(/^0(?=.)/, "")}` : prefix + digits;
  const value = BigInt(literal);
  const candidates: readonly IntName[] = unsigned
    ? (long ? ["uint64"] : ["uint32", "uint64"])
    : long
    ? (decimal ? ["int64"] : ["int64", "uint64"])
    : (decimal ? ["int32", "int64"] : ["int32", "uint32", "int64", "uint64"]);
  const type = candidates.find((name) => value <= MAX[name]);
  if (type !== undefined) return { kind: "int", value, type };
  const message = `\`${text}\` does not fit in 64 bits`;
  return value <= MAX.uint64
    ? {
      kind: "error",
      code: "E2010",
      message: `${message} with a sign`,
      hint: `write \`${digits}u\``,
    }
    : { kind: "error", code: "E2010", message };
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
    const message = `${text} is not ASCII; other characters stand only in comments and strings`;
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
