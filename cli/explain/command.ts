/** `tri explain`: what a diagnostic means, with a program that has the mistake and one that has not. */
import { CODES } from "../../compiler/support/codes.ts";
import { didYouMean } from "../words/did_you_mean.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { type Example, EXPLANATIONS, sectionText } from "./mod.ts";
import { EXIT, usageError } from "../failure.ts";

/** Columns of a line of text. */
const WIDTH = 90;

/** The body of the command. */
export function runExplain(invocation: Invocation, { terminal }: CommandContext): Promise<number> {
  const codes = invocation.operands.map(codeNamed);
  if (codes.length === 0) terminal.print(listOf());
  else terminal.print(codes.map((code) => explanationOf(code)).join("\n"));
  return Promise.resolve(EXIT.ok);
}

const KNOWN = Object.keys(CODES).filter(isCode);

function isCode(word: string): word is keyof typeof CODES {
  return Object.hasOwn(CODES, word);
}

function codeNamed(word: string): keyof typeof CODES {
  const code = KNOWN.find((known) => known === word.toUpperCase());
  if (code !== undefined) return code;
  throw usageError(
    `Unknown diagnostic ${word}`,
    didYouMean(word, KNOWN) ?? "tri explain lists all.",
  );
}

function listOf(): string {
  return KNOWN.map((code) => `${code}  ${CODES[code]}\n`).join("");
}

function explanationOf(code: keyof typeof CODES): string {
  const { text, example } = EXPLANATIONS[code];
  const head = `${code}: ${CODES[code]}`;
  const programs = example === undefined ? [] : shown(example);
  return [head, "", ...wrapped(text), "", sectionText(code), ...programs, ""].join("\n");
}

function shown(example: Example): string[] {
  const { wrong, right, options, files = {} } = example;
  return [
    "",
    options === undefined ? "Wrong:" : `Wrong, with ${options}:`,
    "",
    ...indented(wrong),
    "",
    "Right:",
    "",
    ...indented(right),
    ...Object.entries(files).flatMap(([name, text]) => ["", `${name}:`, "", ...indented(text)]),
  ];
}

function indented(text: string): string[] {
  return text.trimEnd().split("\n").map((line) =>
    // A NUL ends the output of some terminals.
    line === "" ? "" : `    ${line.replaceAll("\0", "\u2400")}`
  );
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
