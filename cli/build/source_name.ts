/**
 * Which names a `.tc` file may have: its wrapper gets the same, with `.ts` at the end, and its images lie in a folder of
 * that name. Programs import the wrapper by URL (Deno, Node) or by path (TypeScript, bundlers, Bun), so only names that
 * mean the same as both are of use.
 */
import type { Reporter } from "../../compiler/support/diagnostic.ts";
import type { SourceFile } from "../../compiler/support/source.ts";

/** Files and folders that tri itself makes in the output folder. */
const OWN = [
  "mod",
  "mod.ts",
  "mod.js",
  "mod.d.ts",
  "manifest.json",
  ".tri-build.json",
  ".tri-staging",
  ".tri-staging.lock",
];

/** What is wrong with a stem; the name in the message is that of the file. */
interface Rule {
  readonly broken: RegExp;
  /** `found` is the part that the expression matched. */
  readonly because: (found: string) => string;
}

/** URL standard, "basic URL parser": `%`, `#` and `?` begin something else, `\` is `/`, tabs and newlines go. */
const RULES: readonly Rule[] = [
  {
    broken: /[%#?\\]/,
    because: (found) => `"${found}" has a special meaning in imports`,
  },
  {
    broken: /[\p{Cc}\u2028\u2029]/u,
    because: (found) =>
      `imports cannot hold the control character U+${
        (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
      }`,
  },
  {
    broken: /(?<=^|\/)\.{0,2}$/,
    because: () => "the folder of its images would have no name of its own",
  },
  {
    broken: /\.d$/,
    because: () => "TypeScript takes files that end in .d.ts for declarations",
  },
];

/** Reports a source whose output could not be used or would replace tri's own files. */
export function checkStem(stem: string, file: SourceFile, reporter: Reporter): void {
  const span = { file, start: 0, end: 0 };
  const hint = "rename the file or its folder";
  const [first = ""] = stem.split("/");
  if (OWN.includes(first) && (first !== "mod" || stem === "mod")) {
    const message = `the wrapper would be ${stem}.ts, but tri uses ${first}`;
    reporter.error("E9040", span, message, { hint });
    return;
  }
  for (const { broken, because } of RULES) {
    const [found] = broken.exec(stem) ?? [];
    if (found === undefined) continue;
    const message = `no wrapper can be named like ${JSON.stringify(`${stem}.tc`)}: ${
      because(found)
    }`;
    reporter.error("E9040", span, message, { hint });
    return;
  }
}
