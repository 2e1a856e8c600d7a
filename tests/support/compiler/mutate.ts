/** Texts with mistakes, for fuzzing: tokens lost, doubled, swapped, replaced, or spliced with those of another text. */
import fc from "../property.ts";

const ACTIONS = ["drop", "double", "swap", "replace", "insert", "splice", "character"] as const;

export interface Edit {
  readonly at: number;
  readonly length: number;
  readonly action: typeof ACTIONS[number];
  readonly word: string;
  readonly other: string;
  readonly from: number;
}

/** Text in pieces that are moved and replaced as wholes. */
const tokensOf = (text: string): string[] =>
  text.match(/\/\/.*|\w+|\.\.\.|[<>=!&|+*-]=|&&|\|\||##|[^\S\n]+|\n|./gs) ?? [];

/** What is put in. */
export const WORDS = [
  ..."+ - * / % @ & | ^ ~ ! < > == << && || ++ = += : , ; ? . ... ( ) [ ] { } # ## \\".split(" "),
  ..."newaxis sizeof bitcast true int float half bfloat16 double float8e4 void const static".split(
    " ",
  ),
  ..."0 1 2 16 4096 -1 1.5 0x80000000 1e300 08 1h 'a' '' \"s\" \" x *p *?( [+] [:,+] [^1,^0]".split(
    " ",
  ),
  ..."exp( max( atomic_add( load( zeros( sort( gather( dot( (float[16]) (int) return break".split(
    " ",
  ),
  ..."if for while do typedef enum __global__ __multipleof(8) get_program_id(0) continue".split(
    " ",
  ),
  "\n#define A A(",
  "\n#define F(x, ...) x ## __VA_ARGS__ # x\n",
  "\n#if 1\n",
  "\n#if TM >\n",
  "\n#else\n",
  "\n#endif\n",
  '\n#include "x"\n',
  "\n#pragma tri config TM=8; num_warps=2\n",
  "\n#pragma tri grid(M,\n",
  "\n#pragma tri tensor X : in float[M, N] strides [ldx, 1]\n",
  "\n#pragma unroll 2\n",
  "/*",
  "*/",
  "\\\n",
  "\u{1F600}",
  "\0",
];

/** Edits whose texts to splice come out of some files. */
export function anyEditsFrom(others: readonly string[]): fc.Arbitrary<readonly Edit[]> {
  const anyEdit: fc.Arbitrary<Edit> = fc.record({
    at: fc.nat(),
    length: fc.integer({ min: 1, max: 12 }),
    action: fc.constantFrom(...ACTIONS),
    word: fc.constantFrom(...WORDS),
    other: fc.constantFrom(...others),
    from: fc.nat(),
  });
  return fc.array(anyEdit, { minLength: 1, maxLength: 5 });
}

/** The text after some edits. */
export function mutate(source: string, edits: readonly Edit[]): string {
  const tokens = tokensOf(source);
  for (const { at, length, action, word, other, from } of edits) {
    const i = at % Math.max(1, tokens.length);
    const here = tokens.slice(i, i + length);
    if (action === "drop") tokens.splice(i, length);
    else if (action === "double") tokens.splice(i, 0, ...here);
    else if (action === "swap") tokens.splice(i, 2, tokens[i + 1] ?? "", " ", tokens[i] ?? "");
    else if (action === "replace") tokens.splice(i, 1, word);
    else if (action === "insert") tokens.splice(i, 0, word);
    else if (action === "splice") {
      const pieces = tokensOf(other);
      const start = from % pieces.length;
      tokens.splice(i, length, ...pieces.slice(start, start + 4 * length));
    } else {
      const token = tokens[i] ?? "";
      const cut = from % (token.length + 1);
      tokens.splice(i, 1, token.slice(0, cut) + word.slice(0, 1) + token.slice(cut + 1));
    }
  }
  return tokens.join("");
}

/** Words that often may replace each other, so that the text is still right. */
const ALIKE: readonly (readonly string[])[] = [
  ["+", "-", "*", "&", "|", "^"],
  ["<", "<=", ">", ">=", "==", "!="],
  ["=", "+=", "-=", "*="],
  ["1", "2", "4", "8", "16", "32", "64"],
  ["0", "1", "3", "5", "7", "31", "1000", "-1"],
  ["char", "short", "int", "long", "half", "bfloat16", "float", "double", "bool", "float8e4"],
  ["unsigned char", "unsigned short", "unsigned int", "unsigned long", "float8e5"],
  ["max", "min", "any", "all", "xor", "argmax", "argmin"],
  ["cumsum", "cumprod", "cummax", "cummin", "flip"],
  ["exp", "log", "sqrt", "sin", "floor", "abs", "isnan", "popc", "erf", "rsqrt"],
  ["atomic_add", "atomic_min", "atomic_max", "atomic_xchg", "atomic_and", "atomic_sub"],
  ["get_program_id", "get_num_programs"],
  ["ca", "cg", "cs", "cv", "nc", "wb", "wt", "evict_first", "volatile", "relaxed", "gpu"],
  ["for", "while", "if"],
  ["break", "continue", "return"],
  ["newaxis", ":"],
];

/** A few words replaced by others of their kind: the result is often a valid program. */
export function anyKin(text: string): fc.Arbitrary<string> {
  const tokens = tokensOf(text);
  const positions = tokens.flatMap((token, at) =>
    ALIKE.filter((row) => row.includes(token)).map((row) => ({ at, row }))
  );
  if (positions.length === 0) return fc.constant(text);
  const anyChange = fc.tuple(fc.constantFrom(...positions), fc.nat());
  return fc.array(anyChange, { minLength: 1, maxLength: 4 }).map((changes) => {
    const changed = [...tokens];
    for (const [{ at, row }, nth] of changes) changed[at] = row[nth % row.length] ?? "";
    return changed.join("");
  });
}
