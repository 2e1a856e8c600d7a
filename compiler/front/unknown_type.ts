/** The one message for a name that stands where a type must and that nothing declares (E2001). */
import { nearest } from "../support/spelling.ts";
import { KEYWORDS } from "./keywords.ts";
import type { ParseContext } from "./parse_context.ts";
import type { Token } from "./token.ts";

/** Words of the dialect before August 2019, and of CUDA, that people put before or for a type. */
const FOREIGN_WORDS: Readonly<Record<string, string>> = {
  tunable: "list the values in a `#pragma tri configs` line, or pass them with `-D`",
  kernel: "kernels begin with `__global__`",
  read_only: "write `__readonly` after the parameter's name",
  write_only: "write `__writeonly` after the parameter's name",
  int1: "write `bool`",
  fp16: "write `half`",
  bf16: "write `bfloat16`",
  fp32: "write `float`",
  fp64: "write `double`",
  __half: "write `half`",
  uint: "write `unsigned`",
  __device__: "a function without `__global__` is a helper already; leave the word out",
  __shared__: "tiles are values; the compiler decides what lies in shared memory",
};

/** Reports a type name that is not declared, and remembers it so that it is reported once. */
export function reportUnknownType({ scopes, reporter }: ParseContext, { text, span }: Token): void {
  const isMacroName = /^[A-Z][A-Z0-9_]*$/.test(text);
  const near = nearest(text, [...KEYWORDS.type, ...scopes.typeNames()]);
  const hint = Object.hasOwn(FOREIGN_WORDS, text)
    ? FOREIGN_WORDS[text]
    : near && `did you mean \`${near}\`?`;
  reporter.error(
    "E2001",
    span,
    `unknown type \`${text}\`${
      isMacroName ? `; pass \`-D${text}=…\` or declare it with \`#pragma tri\`` : ""
    }`,
    hint === undefined ? {} : { hint },
  );
  scopes.declareUnknown(text);
}
