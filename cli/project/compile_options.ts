/** Translates the command line and deno.json into what the compiler takes. The command line is stronger. */
import type { CompileOptions, Define, Override } from "../../compiler/options.ts";
import { type Code, CODES } from "../../compiler/support/codes.ts";
import { didYouMean } from "../words/did_you_mean.ts";
import type { TargetName } from "../../compiler/targets.ts";
import { usageError } from "../failure.ts";
import type { Invocation } from "../command.ts";
import type { FileConfig } from "./tri_config.ts";

/** The options for one source, whose settings are the strongest last; everything but the include resolver. */
export function compileOptionsFor(
  invocation: Invocation,
  settings: readonly FileConfig[],
  targets: readonly TargetName[],
): CompileOptions {
  return {
    targets,
    defines: [...settings.map(({ defines }) => defines), commandLineDefines(invocation)]
      .reduce((weak, strong) => [...weakerDefines(weak, strong), ...strong]),
    overrides: [...settings.map(({ overrides }) => overrides), invocation.overrides]
      .reduce((weak, strong) => [...weakerOverrides(weak, strong), ...strong]),
    suppress: invocation.list("no-warn").map((word) => warningCode("no-warn", word)),
    enable: invocation.list("warn").map((word) => warningCode("warn", word)),
    warningsAsErrors: invocation.flag("werror"),
    ...(invocation.flag("debug") ? { debug: true } : {}),
    ...(invocation.flag("verify") ? { verify: true } : {}),
    ...maxTileElements(invocation),
  };
}

function maxTileElements(invocation: Invocation): Pick<CompileOptions, "maxTileElements"> {
  const text = invocation.text("max-tile-elements");
  if (text === undefined) return {};
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw usageError(
      `--max-tile-elements ${text}: not a number of elements`,
      "Take a whole number from 1 to 999999999.",
    );
  }
  return { maxTileElements: Number(text) };
}

function commandLineDefines(invocation: Invocation): Define[] {
  const defines = invocation.list("define").map((text): Define => {
    const equals = text.indexOf("=");
    const name = equals < 0 ? text : text.slice(0, equals);
    return { name: macroName("-D", name), value: equals < 0 ? "1" : text.slice(equals + 1) };
  });
  const undefines = invocation.list("undefine").map((name): Define => ({
    name: macroName("-U", name),
    value: null,
  }));
  return [...defines, ...undefines];
}

function macroName(option: string, name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw usageError(
    `${option} ${name}: not the name of a macro`,
    `Take letters, digits and _, such as ${option} ${option === "-D" ? "TM=64" : "TM"}.`,
  );
}

function weakerDefines(weak: readonly Define[], stronger: readonly Define[]): Define[] {
  return weak.filter(({ name }) => !stronger.some((define) => define.name === name));
}

function weakerOverrides(
  weaker: readonly Override[],
  stronger: readonly Override[],
): Override[] {
  return weaker.filter((weak) =>
    !stronger.some((strong) =>
      overrideKind(strong) === overrideKind(weak) &&
      (strong.kernel === undefined || strong.kernel === weak.kernel)
    )
  );
}

/** `grid`, `config`, `tensor X`, `num_warps`: what an override replaces. */
function overrideKind({ text }: Override): string {
  return /^tensor\s+\w+|^\w+/.exec(text)?.[0] ?? text;
}

function warningCode(option: string, word: string): Code {
  const known = Object.keys(CODES).filter(isCode).filter((code) => code.startsWith("W"));
  const code = known.find((candidate) => candidate === word);
  if (code !== undefined) return code;
  if (/^E\d{4}$/.test(word)) {
    throw usageError(
      `--${option} ${word}: an error cannot be turned off`,
      `tri explain ${word} shows how to correct it.`,
    );
  }
  throw usageError(
    `--${option} ${word}: no such warning`,
    didYouMean(word, known) ?? "tri explain lists all: their codes begin with W.",
  );
}

function isCode(word: string): word is Code {
  return Object.hasOwn(CODES, word);
}
