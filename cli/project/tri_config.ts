/**
 * The `tri` key of deno.json or package.json (language.md, section 10.5): checked by hand, so that each mistake has a caret
 * and a hint (E9020), and translated into the defines and pragma lines that the compiler takes.
 */
import type { Define, Override } from "../../compiler/options.ts";
import { OPTION_AXES } from "../../compiler/pragma/pragma_options.ts";
import { mistakeInUrl } from "../remote/url.ts";
import { type ExportName, mistakeInExport } from "./export_names.ts";
import type { Reporter } from "../../compiler/support/diagnostic.ts";
import type { Span } from "../../compiler/support/source.ts";
import { didYouMean } from "../words/did_you_mean.ts";
import { type JsonMember, jsonMember, type JsonNode } from "./jsonc.ts";
import type { KERNEL_SETTINGS } from "./settings_docs.ts";

/** What the settings say of one `.tc` file. */
export interface FileConfig {
  readonly defines: readonly Define[];
  readonly overrides: readonly Override[];
  readonly exports: readonly ExportName[];
  /** By the name of the output: what it has besides, in place of the one wrapper that has the file's name. */
  readonly builds: ReadonlyMap<string, FileConfig>;
}

/** By path from the project root, e.g. `kernels/transpose.tc`. */
export type TriConfig = ReadonlyMap<string, FileConfig>;

/** The options of a pragma whose value is in parentheses: `math(fast)`. */
const WORD_OPTIONS = ["fp_contract", "ftz", "fast_div", "math", "dot", "literals"];
/** The others take `= N`. They may differ between configurations, where they follow the `;` of `config`. */
const NUMBER_OPTIONS: readonly string[] = OPTION_AXES;

/** Reads the value of the key `tri`. `exists` is true if a path from the root names a file. */
export function readTriConfig(
  node: JsonNode,
  exists: (path: string) => boolean,
  reporter: Reporter,
): TriConfig {
  const cx = new Checker(reporter);
  const config = new Map<string, FileConfig>();
  for (const member of cx.members(node, '"tri"', ["files", "remoteCache"])) {
    if (member.key === "files") readFiles(cx, member.value, exists, config);
  }
  return config;
}

/** The URL of the remote cache that the key `tri` states; undefined: none, or a wrong one. */
export function readRemoteCache(node: JsonNode, reporter: Reporter): string | undefined {
  const value = jsonMember(node, "remoteCache");
  if (value === undefined) return undefined;
  const cx = new Checker(reporter);
  const url = cx.string(value, "the URL of a remote cache");
  const mistake = url === "" ? undefined : mistakeInUrl(url);
  if (mistake !== undefined) {
    cx.fail(value.span, `"remoteCache" is ${mistake.message}`, mistake.hint);
  }
  return url === "" || mistake !== undefined ? undefined : url;
}

function readFiles(
  cx: Checker,
  files: JsonNode,
  exists: (path: string) => boolean,
  config: Map<string, FileConfig>,
): void {
  for (const file of cx.members(files, '"files"')) {
    if (!exists(file.key)) cx.fail(file.keySpan, `No such file in this project: ${file.key}`);
    config.set(file.key, readFile(cx, file));
  }
}

/** What a build of a file may say too. */
const BUILD_KEYS = ["defines", "kernels", "exports"];

function readFile(
  cx: Checker,
  file: JsonMember,
  keys: readonly string[] = [...BUILD_KEYS, "builds"],
): FileConfig {
  const defines: Define[] = [];
  const overrides: Override[] = [];
  const exports: ExportName[] = [];
  const builds = new Map<string, FileConfig>();
  const read: Readonly<Record<string, (member: JsonMember) => void>> = {
    defines: (member) => defines.push(readDefine(cx, member)),
    kernels: (member) => overrides.push(...readKernel(cx, member)),
    exports: (member) => exports.push(...readExport(cx, member, exports)),
    builds: (member) => {
      if (!/^[\w.-]+$/.test(member.key)) {
        const hint = "A build is named like a file: letters, digits, _, - and .";
        cx.fail(member.keySpan, `Not the name of a build: ${member.key}`, hint);
      }
      builds.set(member.key, readFile(cx, member, BUILD_KEYS));
    },
  };
  for (const { key, value } of cx.members(file.value, `"${file.key}"`, keys)) {
    for (const member of cx.members(value, `"${key}"`)) read[key]?.(member);
  }
  return { defines, overrides, exports, builds };
}

function readExport(
  cx: Checker,
  { key, keySpan, value }: JsonMember,
  others: readonly ExportName[],
): ExportName[] {
  const name = cx.string(value, "the name to export");
  if (name === "") return [];
  const mistake = mistakeInExport(name);
  const other = others.find((one) => one.name === name);
  if (mistake !== undefined) cx.fail(value.span, mistake);
  else if (other !== undefined) {
    cx.fail(value.span, `${name} is the name of ${other.kernel} already`);
  }
  return [{ kernel: key, name, span: keySpan }];
}

function readDefine(cx: Checker, { key, keySpan, value }: JsonMember): Define {
  if (!/^[A-Za-z_]\w*$/.test(key)) cx.fail(keySpan, `Not the name of a macro: ${key}`);
  if (value.kind === "null") return { name: key, value: null };
  return { name: key, value: cx.word(value, `the value of ${key}`) };
}

/** How a key under a kernel becomes pragma lines. */
type PragmaLines = (cx: Checker, node: JsonNode) => string[];

const LINES: Readonly<Record<keyof typeof KERNEL_SETTINGS, PragmaLines>> = {
  variants: (cx, node) =>
    cx.items(node, '"variants"').map((item) => `variant ${bindings(cx, item)}`),
  configs: (cx, node) => cx.items(node, '"configs"').map((item) => configLine(cx, item)),
  key: (cx, node) => {
    const names = cx.items(node, '"key"').map((item) => cx.string(item, "a parameter's name"));
    return [`key(${names.join(", ")})`];
  },
  grid: (cx, node) => {
    const extents = cx.items(node, '"grid"').map((item) => cx.word(item, "an extent of the grid"));
    if (node.kind === "array" && (extents.length < 1 || extents.length > 3)) {
      cx.fail(node.span, "A grid has one to three extents");
    }
    return [`grid(${extents.join(", ")})`];
  },
  tensors: (cx, node) =>
    cx.members(node, '"tensors"').map(({ key, value }) =>
      `tensor ${key} : ${cx.string(value, "a tensor contract")}`
    ),
  require: (cx, node) =>
    cx.items(node, '"require"').map((item) => `require(${cx.string(item, "a condition")})`),
  options: (cx, node) =>
    cx.members(node, '"options"', [...NUMBER_OPTIONS, ...WORD_OPTIONS]).map(({ key, value }) => {
      const word = cx.word(value, `the value of ${key}`);
      return WORD_OPTIONS.includes(key) ? `${key}(${word})` : `${key}=${word}`;
    }),
};

const KERNEL_KEYS: Readonly<Record<string, PragmaLines>> = LINES;

function readKernel(cx: Checker, kernel: JsonMember): Override[] {
  return cx.members(kernel.value, `"${kernel.key}"`, Object.keys(KERNEL_KEYS)).flatMap((
    { key, value },
  ) =>
    (KERNEL_KEYS[key]?.(cx, value) ?? []).map((text) => ({
      kernel: kernel.key,
      isForFile: true,
      text,
      origin: `<${kernel.keySpan.file.name} ${kernel.key}.${key}>`,
    }))
  );
}

function bindings(cx: Checker, node: JsonNode): string {
  return cx.members(node, "a combination of parameters")
    .map(({ key, value }) => `${key}=${cx.word(value, `the value of ${key}`)}`)
    .join(", ");
}

function configLine(cx: Checker, node: JsonNode): string {
  const all = cx.members(node, "a configuration");
  const print = (members: readonly JsonMember[]): string =>
    members.map(({ key, value }) => `${key}=${cx.word(value, `the value of ${key}`)}`).join(", ");
  const parameters = all.filter(({ key }) => !NUMBER_OPTIONS.includes(key));
  const options = all.filter(({ key }) => NUMBER_OPTIONS.includes(key));
  return `config ${print(parameters)}${options.length === 0 ? "" : `; ${print(options)}`}`;
}

/** Reads JSON of a given shape; reports what does not match and continues without it. */
class Checker {
  constructor(private readonly reporter: Reporter) {}

  fail(span: Span, message: string, hint?: string): void {
    this.reporter.error("E9020", span, message, hint === undefined ? {} : { hint });
  }

  /** The members of an object, of which only `known` keys may occur. */
  members(node: JsonNode, what: string, known?: readonly string[]): readonly JsonMember[] {
    if (node.kind !== "object") {
      this.fail(node.span, `Expected an object for ${what}, found ${aJson(node)}`);
      return [];
    }
    return node.members.filter((member, index) => {
      if (node.members.findIndex(({ key }) => key === member.key) !== index) {
        this.fail(member.keySpan, `"${member.key}" occurs twice in ${what}`);
        return false;
      }
      if (known === undefined || known.includes(member.key)) return true;
      this.fail(
        member.keySpan,
        `Unknown key "${member.key}" in ${what}`,
        didYouMean(member.key, known, JSON.stringify) ?? `Known keys: ${known.join(", ")}.`,
      );
      return false;
    });
  }

  items(node: JsonNode, what: string): readonly JsonNode[] {
    if (node.kind === "array") return node.items;
    this.fail(node.span, `Expected a list for ${what}, found ${aJson(node)}`);
    return [];
  }

  string(node: JsonNode, what: string): string {
    if (node.kind === "string" && node.value.trim() !== "") return node.value;
    this.fail(node.span, `Expected ${what} in a string, found ${aJson(node)}`);
    return "";
  }

  /** A token list: a string, or a number for convenience. */
  word(node: JsonNode, what: string): string {
    if (node.kind === "number") return String(node.value);
    if (node.kind === "string") return node.value;
    this.fail(node.span, `Expected a string or a number for ${what}, found ${aJson(node)}`);
    return "";
  }
}

function aJson(node: JsonNode): string {
  if (node.kind === "string" && node.value.trim() === "") return "an empty string";
  return node.kind === "null" ? "null" : `${/^[aeiou]/.test(node.kind) ? "an" : "a"} ${node.kind}`;
}

/** The `tri` member of a parsed file of settings. */
export function triMember(root: JsonNode): JsonNode | undefined {
  return jsonMember(root, "tri");
}
