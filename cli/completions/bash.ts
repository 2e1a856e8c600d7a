/** Completion for bash 3.2 and newer: a function that looks at the word before the cursor. */
import type { CommandWords, OptionWords, Values } from "./model.ts";

/** The script, to be sourced. */
export function bashCompletions(commands: readonly CommandWords[]): string {
  const names = [...commands.map(({ name }) => name), "help", "--help", "--version"];
  return [
    "# Completion of tri for bash: source this file, or put it where bash-completion looks.",
    "_tri() {",
    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}",
    "  # bash takes `=` for a word of its own.",
    '  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi',
    "  COMPREPLY=()",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    _tri_words ${quoted(names)}`,
    "    return",
    "  fi",
    '  case "${COMP_WORDS[1]} $prev" in',
    ...commands.flatMap(valueCases),
    `    "help "*) _tri_words ${quoted(commands.map(({ name }) => name))}; return ;;`,
    "  esac",
    '  case "${COMP_WORDS[1]} $cur" in',
    ...commands.flatMap(wordCases),
    "  esac",
    "}",
    "_tri_words() {",
    '  COMPREPLY=($(compgen -W "$1" -- "$cur"))',
    "}",
    "_tri_paths() {",
    "  local IFS=$'\\n'",
    "  compopt -o filenames 2>/dev/null",
    '  COMPREPLY=($(compgen "$@" -- "$cur"))',
    "}",
    "complete -F _tri tri",
    "",
  ].join("\n");
}

/** Candidates after an option that takes a value. */
function valueCases({ name, options }: CommandWords): string[] {
  return options.filter(({ values }) => values.kind !== "nothing").map((option) => {
    const patterns = spellings(option).map((word) => `"${name} ${word}"`).join("|");
    const action = actionOf(option.values);
    return `    ${patterns}) ${action === "" ? "" : `${action}; `}return ;;`;
  });
}

function wordCases({ name, options, operands }: CommandWords): string[] {
  const words = options.map((option) => `--${option.name}`);
  return [
    `    "${name} -"*) _tri_words ${quoted(words)} ;;`,
    ...(operands.kind === "nothing" || operands.kind === "text"
      ? []
      : [`    "${name} "*) ${actionOf(operands)} ;;`]),
  ];
}

function actionOf(values: Values): string {
  switch (values.kind) {
    case "words":
      return `_tri_words ${quoted(values.words)}`;
    case "sources":
      return "_tri_paths -o plusdirs -f -X '!*.tc'";
    case "folders":
      return "_tri_paths -d";
    case "files":
      return "_tri_paths -f";
    case "nothing":
    case "text":
      return "";
  }
}

function spellings({ name, short }: OptionWords): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

function quoted(words: readonly string[]): string {
  return `"${words.join(" ")}"`;
}
