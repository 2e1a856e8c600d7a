/** SPEC_WORDS: the words that declaration specifiers consist of, and what each is. */
import type { Qualifier, Storage } from "./ast.ts";
import type { Token } from "../preprocess/token.ts";
import { KEYWORDS } from "../preprocess/keywords.ts";

type SpecWord =
  | { readonly role: "storage"; readonly word: Storage }
  | { readonly role: "qualifier"; readonly word: Qualifier }
  | { readonly role: "attribute"; readonly name: string; readonly takesArgument: boolean }
  | { readonly role: "attribute-list" | "type" | "enum" }
  | { readonly role: "rejected"; readonly isType: boolean; readonly hint: string };

const NO_STRUCTURES = "there are no structures; use separate variables and parameters";

/** Every keyword that may be a specifier. */
const SPEC_WORDS: ReadonlyMap<string, SpecWord> = new Map<string, SpecWord>([
  ...KEYWORDS.type.map((word): [string, SpecWord] => [word, { role: "type" }]),
  ["enum", { role: "enum" }],
  ["typedef", { role: "storage", word: "typedef" }],
  ["static", { role: "storage", word: "static" }],
  ["extern", { role: "storage", word: "extern" }],
  ["inline", { role: "storage", word: "inline" }],
  ["__global__", { role: "storage", word: "__global__" }],
  ["const", { role: "qualifier", word: "const" }],
  ["volatile", { role: "qualifier", word: "volatile" }],
  ["restrict", { role: "qualifier", word: "restrict" }],
  ["__restrict", { role: "qualifier", word: "restrict" }],
  ["__restrict__", { role: "qualifier", word: "restrict" }],
  ["__constant__", { role: "qualifier", word: "__constant__" }],
  ["__noalias", { role: "attribute", name: "noalias", takesArgument: false }],
  ["__readonly", { role: "attribute", name: "readonly", takesArgument: false }],
  ["__writeonly", { role: "attribute", name: "writeonly", takesArgument: false }],
  ["__retune", { role: "attribute", name: "retune", takesArgument: false }],
  ["__multipleof", { role: "attribute", name: "multipleof", takesArgument: true }],
  ["__aligned", { role: "attribute", name: "aligned", takesArgument: true }],
  ["__attribute__", { role: "attribute-list" }],
  ["struct", { role: "rejected", isType: true, hint: NO_STRUCTURES }],
  ["union", { role: "rejected", isType: true, hint: "use `bitcast<T>(e)` to reinterpret bits" }],
  ["_Complex", {
    role: "rejected",
    isType: false,
    hint: "keep real and imaginary parts in two variables",
  }],
  ["_Imaginary", {
    role: "rejected",
    isType: false,
    hint: "keep real and imaginary parts in two variables",
  }],
  ["auto", { role: "rejected", isType: false, hint: "write the type" }],
  ["register", { role: "rejected", isType: false, hint: "remove it; the compiler decides" }],
  ["_Atomic", {
    role: "rejected",
    isType: false,
    hint: "use `atomic_add`, `atomic_cas`, … on ordinary memory",
  }],
  ["_Alignas", { role: "rejected", isType: false, hint: "use `__aligned(N)` on a pointer" }],
  ["_Noreturn", { role: "rejected", isType: false, hint: "remove it" }],
  ["_Thread_local", {
    role: "rejected",
    isType: false,
    hint: "remove it; each program has its own variables",
  }],
]);

export function specWord(token: Token): SpecWord | undefined {
  return token.kind === "keyword" ? SPEC_WORDS.get(token.text) : undefined;
}
