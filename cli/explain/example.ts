/** The explanation of a diagnostic, and short constructors for it. */

/** A program with the mistake and one without; a test compiles both. */
export interface Example {
  readonly wrong: string;
  readonly right: string;
  /** What the two are: a `.tc` file, or the `tri` key of deno.json. */
  readonly language: "tc" | "json";
  /** Command-line options, if the diagnostic appears only with them. */
  readonly options?: string;
  /** Files that the program includes, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Why the diagnostic exists and how to fix it; the one-line meaning is in the table of codes. */
export interface Explanation {
  readonly text: string;
  /** Absent where no source text can show it. */
  readonly example?: Example;
}

type Details = Pick<Example, "options" | "files">;

/** Whole files. */
export function file(
  text: string,
  wrong: string,
  right: string,
  details: Details = {},
): Explanation {
  return { text, example: { wrong, right, language: "tc", ...details } };
}

/** Statements of a kernel, whose parameters are always the same. */
export function inside(
  text: string,
  wrong: string,
  right: string,
  details: Details = {},
): Explanation {
  return file(text, kernelOf(wrong), kernelOf(right), details);
}

/** Settings in deno.json. */
export function settings(text: string, wrong: string, right: string): Explanation {
  return { text, example: { wrong, right, language: "json" } };
}

function kernelOf(statements: string): string {
  const lines = statements.split("\n").map((line) => /^#|^$/.test(line) ? line : `  ${line}`);
  return `__global__ void f(float *X, int *I, int n, unsigned u) {\n${lines.join("\n")}\n}`;
}
