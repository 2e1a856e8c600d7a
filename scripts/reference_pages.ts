/**
 * Writes docs/reference/ from the tables of the code: commands, diagnostics, names of the language, and from `deno doc` what
 * the run time exports.
 *
 *     deno run -A scripts/reference_pages.ts            rewrites the pages
 *     deno run -A scripts/reference_pages.ts --check    fails if one is not up to date
 */
import { table } from "../cli/doc/page.ts";
import * as path from "node:path";
import { COMMANDS, isCommand } from "../cli/words/commands.ts";
import { EXPLANATIONS, SECTIONS } from "../cli/explain/mod.ts";
import { commandHelpText, helpText } from "../cli/words/help.ts";
import { BUILTIN_CONSTANTS, BUILTINS } from "../compiler/check/builtins/builtins.ts";
import { KEYWORDS } from "../compiler/preprocess/keywords.ts";
import { BUILDS_EXAMPLE, KERNEL_SETTINGS, SETTINGS_EXAMPLE } from "../cli/project/settings_docs.ts";
import {
  ATTRIBUTE_DOCS,
  BUILTIN_DOCS,
  HINT_DOCS,
  MACRO_DOCS,
  OPTION_DOCS,
  PRAGMA_DOCS,
} from "../compiler/check/language_docs.ts";
import { HINTS } from "../compiler/parse/loop_hints.ts";
import { isOptionName, optionUsage } from "../compiler/pragma/pragma_options.ts";
import { type Code, CODES, OFF_BY_DEFAULT } from "../compiler/support/codes.ts";
import { SCALARS } from "../compiler/support/scalar.ts";
import { MODULE_PAGES, modulePage } from "./reference_modules.ts";

/** The folder of the pages. */
export const FOLDER: string = path.join(import.meta.dirname ?? ".", "../docs/reference");

/** The top of a generated page. */
function head(title: string, source: string): string {
  return `# ${title}\n\n<!-- written by scripts/reference_pages.ts from ${source} -->\n`;
}

const code = (text: string): string => `\`${text}\``;

function cliPage(): string {
  const commands = Object.keys(COMMANDS).filter(isCommand);
  const block = (text: string): string => "```text\n" + text.trimEnd() + "\n```\n";
  return [
    head("The command line", "cli/words/commands.ts and cli/words/options.ts"),
    "`deno task tri COMMAND`, or `deno run -P=tri cli/main.ts COMMAND`. The output of `--help`:\n",
    block(helpText()),
    ...commands.flatMap((name) => [`## tri ${name}\n`, block(commandHelpText(name))]),
  ].join("\n");
}

const CHAPTERS: Readonly<Record<string, string>> = {
  1: "Text and directives",
  2: "Tokens",
  3: "Types",
  4: "Declarations",
  5: "Expressions",
  6: "Statements",
  7: "Built-in functions and targets",
  9: "Pragmas and contracts",
};

function diagnosticsPage(): string {
  const codes = Object.keys(CODES).filter(isCode);
  const chapters = Object.entries(CHAPTERS).map(([digit, title]) => {
    const rows = codes.filter((name) => name[1] === digit).map((name) => [
      name,
      `${CODES[name]}${OFF_BY_DEFAULT.has(name) ? " (off by default: `--warn`)" : ""}`,
      EXPLANATIONS[name].text,
      `[${SECTIONS[name]}](../language.md#${anchor(SECTIONS[name])})`,
    ]);
    const titles = ["code", "meaning", "why, and what to do", "section"];
    return `## ${title}\n\n${table(titles, rows)}\n`;
  });
  return [
    head("Diagnostics", "compiler/support/codes.ts and cli/explain/"),
    "Codes never change their meaning. E is an error; W is a warning, which `--no-warn CODE` turns off and `--werror` turns " +
    "into an error. `tri explain CODE` adds a wrong program and the corrected one. The last column is the section of [the " +
    "language](../language.md) that has the rule.\n",
    ...chapters,
  ].join("\n");
}

/** The anchor of a section of docs/language.md, as GitHub makes it of the heading. */
function anchor(section: string): string {
  const text = Deno.readTextFileSync(path.join(FOLDER, "../language.md"));
  const title = /^#{2,3} (.*)$/gm;
  const heading = [...text.matchAll(title)].map(([, found = ""]) => found)
    .find((found) => found.split(" ")[0]?.replace(/\.$/, "") === section);
  if (heading === undefined) throw new Error(`docs/language.md has no section ${section}`);
  return heading.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-");
}

function isCode(name: string): name is Code {
  return Object.hasOwn(CODES, name);
}

function namesPage(): string {
  const builtins = [...Map.groupBy(BUILTINS.values(), ({ canonical }) => canonical)].flatMap(
    ([canonical, [first, ...others]]) => {
      if (first === undefined) return [];
      const also = others.map(({ name }) => code(name)).join(", ");
      return [[code(first.signature), BUILTIN_DOCS[canonical] ?? "", also]];
    },
  );
  const words = Object.entries(KEYWORDS).map(([group, list]) => [
    group,
    list.map(code).join(" "),
  ]);
  const options = Object.entries(OPTION_DOCS).filter(([name]) => isOptionName(name)).map((
    [name, doc],
  ) => [
    code(isOptionName(name) ? /`(.*)`/.exec(optionUsage(name))?.[1] ?? name : name),
    doc + (/`.*`(.*)/.exec(isOptionName(name) ? optionUsage(name) : "")?.[1] ?? ""),
  ]);
  return [
    head("Names of the language", "the tables in compiler/check"),
    "[language.md](../language.md) has the rules, [language-coverage.md](../language-coverage.md) a test of every construct.\n",
    "## Types\n",
    table(
      ["type", "name", "bits"],
      Object.entries(SCALARS).map(([name, { bits, spelling }]) => [
        code(spelling),
        code(name),
        `${bits}`,
      ]),
    ),
    "\n## Built-in functions\n",
    "Arguments of functions of elements broadcast. Square brackets: may be left out.\n",
    table(["call", "result", "also"], builtins),
    "\n## Built-in constants\n",
    table(
      ["name", "type", "value"],
      Object.entries(BUILTIN_CONSTANTS).map(([name, { type, value }]) => [
        code(name),
        code(type),
        `${value}`,
      ]),
    ),
    "\n## Attributes\n",
    "After a name or among the specifiers of its declaration.\n",
    table(
      ["attribute", "promise"],
      Object.entries(ATTRIBUTE_DOCS).map(([name, doc]) => [code(name), doc]),
    ),
    "\n## Pragmas\n",
    "After `#pragma tri`, at file scope, before the kernel that they are for.\n",
    table(
      ["pragma", "meaning"],
      Object.values(PRAGMA_DOCS).map(({ form, doc }) => [code(form), doc]),
    ),
    "\n### Options\n",
    "Pragmas too; `num_warps`, `num_stages` and `max_registers` are also allowed after `;` in `config` and `configs`.\n",
    table(["option", "meaning"], options),
    "\n### Loop hints\n",
    "After `#pragma tri loop`, directly before a loop.\n",
    table(
      ["hint", "meaning"],
      Object.entries(HINTS).map(([name, { form }]) => [form, HINT_DOCS[name] ?? ""]),
    ),
    "\n## Predefined macros\n",
    table(["macro", "value"], Object.entries(MACRO_DOCS).map(([name, doc]) => [code(name), doc])),
    "\n## Keywords\n",
    table(["group", "words"], words),
    "",
  ].join("\n");
}

function settingsPage(): string {
  return [
    head("Settings", "cli/project/settings_docs.ts"),
    "The key `tri` of `deno.json` or `package.json` says of a `.tc` file what its pragmas or the command line can say too. Its " +
    "settings are stronger than pragmas and weaker than the command line. Comments are allowed, by Deno at least; a key that " +
    "there is not is E9020. Where both files have the key, that of `deno.json` counts.\n",
    "```json\n" + JSON.stringify({ tri: SETTINGS_EXAMPLE }, null, 2) + "\n```\n",
    "`remoteCache` is the URL of a [remote cache](../more-than-one-machine.md#builds-a-shared-cache), or `off`.\n",
    "`files` holds an object for each file, by its path from the project's root:\n",
    table(["key", "value"], [
      [
        code("defines"),
        "macros: a string or a number is the macro's tokens, `null` undefines it (`-D`, `-U`)",
      ],
      [code("kernels"), "an object for each kernel, by the name in the file"],
      [
        code("exports"),
        "the names that the wrapper exports, by the kernel's name in the file (`--export`)",
      ],
      [
        code("builds"),
        "an object for each wrapper that the file is built into, by the wrapper's name: `defines`, `kernels` and `exports` of " +
        "this one, which are stronger than those of the file",
      ],
    ]),
    "\nThe keys of a kernel:\n",
    table(
      ["key", "form", "meaning", "as a pragma"],
      Object.entries(KERNEL_SETTINGS).map((
        [name, { form, doc, pragma }],
      ) => [code(name), code(form), doc, code(`#pragma tri ${pragma}`)]),
    ),
    "\n## One file, several wrappers\n",
    "A file with `builds` is compiled once for each of them, and there is no wrapper of the file's own name:\n",
    "```json\n" + JSON.stringify({ tri: BUILDS_EXAMPLE }, null, 2) + "\n```\n",
    "This writes `kernels/scale.tc` as `scale_small.ts` and `scale_large.ts`, in the folder where `scale.ts` would be. " +
    "`tri inspect`, `tri debug`, `tri tune` and editors take the first build; `-D` replaces its macros.\n",
    "\nTokens and expressions are those of [pragmas](names.md#pragmas); options are [those of pragmas](names.md#options) too.\n",
  ].join("\n");
}

/** Every page by its name, formatted. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const pages: readonly (readonly [string, string])[] = [
    ["cli.md", cliPage()],
    ["settings.md", settingsPage()],
    ["diagnostics.md", diagnosticsPage()],
    ["names.md", namesPage()],
    ...await Promise.all(
      Object.entries(MODULE_PAGES).map(async ([name, page]): Promise<[string, string]> => [
        name,
        await modulePage(page),
      ]),
    ),
  ];
  return new Map(
    await Promise.all(
      pages.map(async ([name, text]): Promise<[string, string]> => [name, await format(text)]),
    ),
  );
}

/** As `deno fmt` wants it. */
async function format(text: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", "--ext=md", "-"],
    cwd: FOLDER,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { code: exit, stdout } = await child.output();
  if (exit !== 0) throw new Error("deno fmt failed");
  return new TextDecoder().decode(stdout);
}

/** Names of the pages that differ from what is on disk. */
export async function stalePages(): Promise<string[]> {
  const pages = [...await referencePages()];
  return pages.filter(([name, text]) => readIfThere(path.join(FOLDER, name)) !== text).map((
    [name],
  ) => name);
}

function readIfThere(file: string): string | undefined {
  try {
    return Deno.readTextFileSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

if (import.meta.main) {
  Deno.mkdirSync(FOLDER, { recursive: true });
  if (!Deno.args.includes("--check")) {
    for (const [name, text] of await referencePages()) {
      Deno.writeTextFileSync(path.join(FOLDER, name), text);
    }
  } else {
    const stale = await stalePages();
    if (stale.length > 0) {
      const text = `docs/reference/${stale.join(", ")}: run scripts/reference_pages.ts\n`;
      Deno.stderr.writeSync(new TextEncoder().encode(text));
      Deno.exit(1);
    }
  }
}
