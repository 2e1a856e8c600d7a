/** Completion for PowerShell 7: a table of the commands, and a completer that looks words up in it. */
import type { CommandWords, OptionWords, Values } from "./model.ts";

/** The script, for `$PROFILE`: `tri completions powershell | Out-String | Invoke-Expression`. */
export function powershellCompletions(commands: readonly CommandWords[]): string {
  return [
    "# Completion of tri for PowerShell: in $PROFILE,",
    "# tri completions powershell | Out-String | Invoke-Expression",
    "Register-ArgumentCompleter -Native -CommandName tri -ScriptBlock {",
    "  param($word, $ast, $cursor)",
    "  $commands = [ordered]@{",
    ...commands.flatMap(commandEntry),
    "  }",
    ...COMPLETER.map((line) => `  ${line}`),
    "}",
    "",
  ].join("\n");
}

/** Where it offers nothing, PowerShell offers files and folders. */
const COMPLETER: readonly string[] = [
  "$before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } |",
  "  ForEach-Object { $_.ToString() })",
  "$offer = {",
  "  param($text, $help, $kind)",
  '  if ($text -like "$word*") {',
  "    [System.Management.Automation.CompletionResult]::new($text, $text, $kind, $help)",
  "  }",
  "}",
  "if ($before.Count -lt 2 -or ($before.Count -eq 2 -and $before[1] -eq 'help')) {",
  "  foreach ($name in $commands.Keys) { & $offer $name $commands[$name].help 'ParameterValue' }",
  "  return",
  "}",
  "$command = $commands[$before[1]]",
  "if ($null -eq $command) { return }",
  "$option = $command.options[$before[-1]]",
  "if ($null -ne $option -and $option.values.Count -gt 0) {",
  "  foreach ($value in $option.values) { & $offer $value $value 'ParameterValue' }",
  "} elseif ($word -like '-*') {",
  "  foreach ($name in $command.options.Keys) {",
  "    & $offer $name $command.options[$name].help 'ParameterName'",
  "  }",
  "} else {",
  "  foreach ($value in $command.operands) { & $offer $value $value 'ParameterValue' }",
  "}",
];

function commandEntry({ name, summary, options, operands }: CommandWords): string[] {
  return [
    `    ${quoted(name)} = @{`,
    `      help = ${quoted(summary)}`,
    `      operands = ${listOf(operands)}`,
    "      options = [ordered]@{",
    ...options.map(optionEntry),
    "      }",
    "    }",
  ];
}

function optionEntry({ name, help, values }: OptionWords): string {
  return `        ${quoted(`--${name}`)} = @{ help = ${quoted(help)}; values = ${listOf(values)} }`;
}

function listOf(values: Values): string {
  return values.kind === "words" ? `@(${values.words.map(quoted).join(", ")})` : "@()";
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
