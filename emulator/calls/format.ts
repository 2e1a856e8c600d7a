/** The conversions of `printf` (C17, 7.21.6.1), as CUDA's device printf has them. */

/** Where the arguments come from, in order. */
export interface FormatArguments {
  /** The next one as so many bytes, without sign. */
  integer(bytes: 4 | 8): bigint;
  double(): number;
  /** The text that the next one points to. */
  text(): string;
  /** Throws that a conversion cannot be done. */
  refuse(detail: string): never;
}

/** The widest field, and the most digits of an integer. */
const MOST_WIDTH = 1 << 16;
/** The most digits of a float after its point. */
const MOST_DIGITS = 100;
const FLOATS = "eEfFgGaA";

const CONVERSION =
  /%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcspn%])/g;

/** Lengths that make an integer 64 bits wide. */
const LONG: ReadonlySet<string> = new Set(["l", "ll", "j", "z", "t"]);
const NARROW: Readonly<Record<string, number>> = { hh: 8, h: 16 };

interface Layout {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
}

/** Replaces the conversions of a format. */
export function formatText(format: string, args: FormatArguments): string {
  return format.replace(
    CONVERSION,
    (
      all: string,
      flags: string,
      width: string | undefined,
      precision: string | undefined,
      length: string | undefined,
      kind: string,
    ) => {
      if (kind === "%") return "%";
      const star = (): number => Number(BigInt.asIntN(32, args.integer(4)));
      const given = width === "*" ? star() : Number(width ?? 0);
      const layout: Layout = {
        flags: given < 0 ? `${flags}-` : flags,
        width: Math.abs(given),
        precision: digitsOf(precision === "*" ? star() : precision),
      };
      const most = FLOATS.includes(kind) ? MOST_DIGITS : MOST_WIDTH;
      if (!(layout.width <= MOST_WIDTH)) {
        args.refuse(`printf: ${all} is wider than ${MOST_WIDTH} characters`);
      }
      if (!((layout.precision ?? 0) <= most)) {
        args.refuse(`printf: ${all} has a precision of more than ${most}`);
      }
      return convert(kind, length ?? "", layout, args) ?? all;
    },
  );
}

/** A precision; a negative one counts as none (C17, 7.21.6.1). */
function digitsOf(given: number | string | undefined): number | undefined {
  return given === undefined || Number(given) < 0 ? undefined : Number(given);
}

function convert(
  kind: string,
  length: string,
  layout: Layout,
  args: FormatArguments,
): string | undefined {
  const bits = NARROW[length] ?? (LONG.has(length) ? 64 : 32);
  const integer = (): bigint => args.integer(bits === 64 ? 8 : 4);
  switch (kind) {
    case "d":
    case "i":
      return pad(signed(BigInt.asIntN(bits, integer()), layout), layout);
    case "u":
      return pad(digits(BigInt.asUintN(bits, integer()).toString(), layout), layout);
    case "o":
    case "x":
    case "X": {
      const value = BigInt.asUintN(bits, integer());
      const text = digits(value.toString(kind === "o" ? 8 : 16), layout);
      const marked = layout.flags.includes("#") && value !== 0n
        ? `${kind === "o" ? "0" : "0x"}${text}`
        : text;
      return pad(kind === "X" ? marked.toUpperCase() : marked, layout);
    }
    case "c":
      return pad(String.fromCharCode(Number(args.integer(4) & 255n)), blank(layout));
    case "s": {
      const text = args.text();
      return pad(text.slice(0, layout.precision ?? text.length), blank(layout));
    }
    case "p":
      return pad(`0x${args.integer(8).toString(16)}`, blank(layout));
    case "n":
      return "";
    default:
      return pad(float(kind, args.double(), layout), layout);
  }
}

/** Text is not filled with zeros. */
const blank = (layout: Layout): Layout => ({ ...layout, flags: layout.flags.replaceAll("0", "") });

function digits(text: string, { precision }: Layout): string {
  return text.padStart(precision ?? 0, "0");
}

function withSign(negative: boolean, text: string, { flags }: Layout): string {
  const positive = flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  return `${negative ? "-" : positive}${text}`;
}

function signed(value: bigint, layout: Layout): string {
  const negative = value < 0n;
  return withSign(negative, digits((negative ? -value : value).toString(), layout), layout);
}

function float(kind: string, value: number, layout: Layout): string {
  const negative = value < 0 || Object.is(value, -0);
  const size = Math.abs(value);
  const text = Number.isNaN(value)
    ? "nan"
    : size === Infinity
    ? "inf"
    : finite(kind.toLowerCase(), size, layout);
  const signedText = withSign(negative, text, layout);
  return kind === kind.toUpperCase() ? signedText.toUpperCase() : signedText;
}

function finite(kind: string, value: number, { precision = 6, flags }: Layout): string {
  switch (kind) {
    case "e":
      return exponent(value.toExponential(precision));
    case "g": {
      const significant = Math.max(1, precision);
      const power = value === 0
        ? 0
        : Number(/e(.*)$/.exec(value.toExponential(significant - 1))?.[1]);
      const text = power < -4 || power >= significant
        ? exponent(value.toExponential(significant - 1))
        : value.toFixed(significant - 1 - power);
      return flags.includes("#")
        ? text
        : text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");
    }
    case "a": {
      if (value === 0) return "0x0p+0";
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, value);
      const bits = view.getBigUint64(0);
      const power = Number((bits >> 52n) & 2047n);
      const fraction = (bits & ((1n << 52n) - 1n)).toString(16).padStart(13, "0").replace(
        /0+$/,
        "",
      );
      const shown = power === 0 ? -1022 : power - 1023;
      const point = fraction === "" ? "" : `.${fraction}`;
      return `0x${power === 0 ? 0 : 1}${point}p${shown < 0 ? "" : "+"}${shown}`;
    }
    default:
      // Numbers from 10^21 on are whole, and toFixed() has exponents for them.
      return value < 1e21
        ? value.toFixed(precision)
        : `${BigInt(value)}${precision === 0 ? "" : `.${"0".repeat(precision)}`}`;
  }
}

/** Exponents have two digits at least. */
function exponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

function pad(text: string, { flags, width }: Layout): string {
  if (flags.includes("-")) return text.padEnd(width);
  if (!flags.includes("0") || /[a-z]{3}$/i.test(text)) return text.padStart(width);
  const [, head = "", rest = ""] = /^([-+ ]?(?:0[xX])?)([^]*)$/.exec(text) ?? [];
  return head + rest.padStart(width - head.length, "0");
}
