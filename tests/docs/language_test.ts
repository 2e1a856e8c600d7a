/** docs/language.md has every section that the repository cites and every code of a diagnostic, and its programs compile. */
import * as path from "node:path";
import { SECTIONS } from "../../cli/explain/mod.ts";
import { BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { CODES } from "../../compiler/support/codes.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { readBlocks } from "./blocks.ts";
import { ROOT } from "./workspace.ts";
import { compileFile } from "../support/compile.ts";

const PAGE = "docs/language.md";
const TEXT = Deno.readTextFileSync(path.join(ROOT, PAGE));

/** The text below each heading, by number: `5`, `5.11`, `Appendix A`. */
function sectionsOf(page: string): ReadonlyMap<string, string> {
  const parts = page.split(/^#{2,3} (?=\d+\.|Appendix )/m).slice(1);
  return new Map(parts.map((part) => {
    const [, number = part] = /^(Appendix [A-Z]|\d+(?:\.\d+)?)\.? /.exec(part) ?? [];
    return [number, part];
  }));
}

const NUMBERED = sectionsOf(TEXT);

const NUMBER = String.raw`(?:Appendix [A-Z]|\d{1,2}(?:\.\d{1,2})?)(?![\d.]*\d)`;
const LIST = String
  .raw`(?:§ ?|sections? )?${NUMBER}(?:(?:, and| and| to|,) (?:section )?${NUMBER})*`;

/** Lines of a comment or a paragraph as one. */
function unwrapped(text: string): string {
  return text.replace(/\s*\n\s*(?:\* |\/\/ )?/g, " ");
}

/** The sections that a text cites as `language.md 8.3`, `language.md, 1.2 to 1.4` and the like. */
function citedIn(text: string): string[] {
  return [...unwrapped(text).matchAll(new RegExp(`language\\.md,? (${LIST})`, "g"))]
    .flatMap(([, list = ""]) => [...list.matchAll(new RegExp(NUMBER, "g"))].map(([one]) => one));
}

/** The sections that the compiler's comments cite by their number alone: `(5.11)`, and `// ---- 7.4` in tables. */
function bareIn(text: string): string[] {
  const comments = [...text.matchAll(/\/\*\*[^]*?\*\/|\/\/.*/g)].map(([comment]) => comment)
    .filter((comment) => !/ISA|C11|CUDA|IEEE/.test(comment));
  return comments.flatMap((comment) =>
    [...comment.matchAll(/\((\d{1,2}\.\d{1,2})\)|^\/\/ -+ (\d{1,2}\.\d{1,2})(?![\d.]*\d)/g)]
      .map(([, inside, head]) => inside ?? head ?? "")
  );
}

/** Folders that a build or an installation writes. */
const WRITTEN = new Set(["generated", "node_modules", "npm"]);
const TYPES = new Set([".ts", ".tc", ".h", ".md", ".json", ".js"]);

/** Texts below a folder, by their paths in the repository. */
function filesIn(folder: string): string[] {
  return [...Deno.readDirSync(path.join(ROOT, folder))].flatMap(({ name, isDirectory }) => {
    const inside = path.join(folder, name);
    if (isDirectory) return name.startsWith(".") || WRITTEN.has(name) ? [] : filesIn(inside);
    return TYPES.has(path.extname(name)) ? [inside] : [];
  });
}

/** This test shows forms of citations. */
const SELF = "tests/docs/language_test.ts";
const FILES = filesIn(".").filter((name) => name !== SELF).map((name) => ({
  name,
  text: Deno.readTextFileSync(path.join(ROOT, name)),
}));

Deno.test("citedIn() finds sections in every form in which they are cited", () => {
  const forms: Readonly<Record<string, string>> = {
    "(language.md, 5.12)": "5.12",
    "language.md 10.3": "10.3",
    "(language.md, 4.1 to 4.3, 7.2)": "4.1 4.3 7.2",
    "language.md, Appendix A": "Appendix A",
    "language.md 9.2, 9.3 and 10.3": "9.2 9.3 10.3",
    "(language.md, section 9)": "9",
    "language.md, 5.2 to 5.5): 2 * 64": "5.2 5.5",
    "(grammar: language.md,\n * Appendix A)": "Appendix A",
    "language.md 5.1, levels 5 to 15": "5.1",
    "language.md, section by section": "",
    "[names](language.md#53-broadcasting)": "",
  };
  for (const [form, sections] of Object.entries(forms)) {
    assertEquals(citedIn(form).join(" "), sections, form);
  }
});

Deno.test("docs/language.md has every section that is cited", () => {
  const cited = FILES.flatMap(({ name, text }) =>
    citedIn(text).map((section) => ({ name, section }))
  );
  const bare = FILES.filter(({ name }) => /^compiler\/.*\.ts$/.test(name))
    .flatMap(({ name, text }) => bareIn(text).map((section) => ({ name, section })));
  assert(cited.length > 80, `only ${cited.length} citations were found`);
  assert(bare.length > 5, `only ${bare.length} bare citations were found`);
  const own = [...unwrapped(TEXT).matchAll(new RegExp(`sections? (${NUMBER})`, "g"))]
    .map(([, section = ""]) => ({ name: PAGE, section }));
  const missing = [...cited, ...bare, ...own].filter(({ section }) => !NUMBERED.has(section))
    .map(({ name, section }) => `${name}: ${section}`);
  assertEquals(missing, []);
});

/** `#53-broadcasting`, as GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-");

Deno.test("docs/language.md has every heading that a page links to", () => {
  const headings = [...TEXT.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));
  const pages = FILES.filter(({ name }) => name.endsWith(".md"));
  const linked = pages.flatMap(({ name, text }) =>
    [...text.matchAll(/\/language\.md#([^)\s]*)\)/g)].map(([, anchor = ""]) => ({ name, anchor }))
  );
  assert(linked.length > 0);
  const dead = linked.filter(({ anchor }) => !headings.includes(anchor));
  assertEquals(dead, []);
});

Deno.test("docs/language.md names every code in bold at one rule, that of its entry in SECTIONS", () => {
  const bold = [...NUMBERED].flatMap(([number, text]) =>
    [...text.matchAll(/\*\*([EW]\d{4})\*\*/g)].map(([, code = ""]) => ({ code, number }))
  );
  for (const code of Object.keys(CODES)) {
    const sections = bold.filter((one) => one.code === code).map(({ number }) => number);
    assertEquals(sections.length, 1, `${code} is bold in ${sections.join(", ") || "no section"}`);
  }
  const expected = Object.fromEntries(bold.map(({ code, number }) => [code, number]));
  assertEquals(SECTIONS, expected, "cli/explain/sections.ts");
});

Deno.test("docs/language.md names every built-in function", () => {
  // `sinf` is `sin`: section 7.4 says so of all of them.
  const own = [...BUILTINS.keys()].filter((name) =>
    !(name.endsWith("f") && BUILTINS.has(name.slice(0, -1))) && name !== "fabsf"
  );
  assertEquals(own.filter((name) => !new RegExp(`\\b${name}\\b`).test(TEXT)), []);
});

Deno.test("docs/language.md names no code that does not exist", () => {
  const rules = [...NUMBERED.values()].join("");
  const unknown = [...rules.matchAll(/\b[EW]\d{4}\b/g)].map(([code]) => code)
    .filter((code) => !Object.hasOwn(CODES, code));
  assertEquals(unknown, []);
});

Deno.test("docs/language.md names the codes of the emulator, and no other", () => {
  const sources = FILES.filter(({ name }) => /^(ffi|emulator)\/.*\.ts$/.test(name));
  const codesOf = (text: string): string[] =>
    [...text.matchAll(/\bR8\d{3}\b/g)].map(([code]) => code);
  const known = new Set(sources.flatMap(({ text }) => codesOf(text)));
  assertEquals([...new Set(codesOf(TEXT))].sort(), [...known].sort());
});

Deno.test("compileFile() takes every program of docs/language.md", () => {
  const programs = readBlocks(TEXT).filter(({ language }) => language === "c");
  assert(programs.length > 0);
  for (const { line, text } of programs) {
    const options = { targets: ["sm_90"], checkOnly: true } as const;
    const { diagnostics } = compileFile({ name: `${PAGE}:${line}`, text }, options);
    assertEquals(diagnostics, []);
  }
});
