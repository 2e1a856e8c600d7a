import { bashCompletions } from "../../cli/completions/bash.ts";
import { fishCompletions } from "../../cli/completions/fish.ts";
import { type CommandWords, commandWords } from "../../cli/completions/model.ts";
import { powershellCompletions } from "../../cli/completions/powershell.ts";
import { zshCompletions } from "../../cli/completions/zsh.ts";
import { commandRow, COMMANDS, isCommand } from "../../cli/words/commands.ts";
import { SHELLS } from "../../cli/words/options.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { Workspace } from "./support/tri_process.ts";

const FILES = { "kernels/add.tc": "", "kernels/notes.txt": "", "scale.tc": "", "other.md": "" };

/** A shell that is installed here. */
async function isThere(shell: string): Promise<boolean> {
  try {
    return (await new Deno.Command(shell, { args: ["-c", "true"] }).output()).success;
  } catch {
    return false;
  }
}

async function linesOf(shell: string, script: string, cwd: string): Promise<string[]> {
  const { stdout, stderr } = await new Deno.Command(shell, { args: ["-c", script], cwd }).output();
  assertEquals(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "").sort();
}

/** What bash offers for the last of some words. */
function offered(cwd: string, words: readonly string[]): Promise<string[]> {
  const list = words.map((word) => `'${word}'`).join(" ");
  return linesOf(
    "bash",
    `source ./tri.bash; COMP_WORDS=(tri ${list}); COMP_CWORD=${words.length}; _tri; ` +
      'printf "%s\\n" "${COMPREPLY[@]}"',
    cwd,
  );
}

Deno.test({
  name: "bashCompletions gives a script that bash asks for commands, options, values and files",
  ignore: !await isThere("bash"),
  fn: async () => {
    using workspace = new Workspace({ ...FILES, "tri.bash": bashCompletions(commandWords()) });
    const at = workspace.path;
    assertEquals(await offered(at, ["bui"]), ["build"]);
    for (const name of Object.keys(COMMANDS)) {
      assert((await offered(at, [""])).includes(name), name);
    }
    assertEquals(await offered(at, ["build", "--wat"]), ["--watch"]);
    assertEquals(
      await offered(at, ["check", "--"]),
      commandRow("check").options.map((name) => `--${name}`).sort(),
    );
    assertEquals(await offered(at, ["build", "--emit", ""]), ["js", "ts"]);
    assertEquals(await offered(at, ["build", "--format", "=", "sa"]), ["sarif"]);
    assertEquals(await offered(at, ["build", "--out", ""]), ["kernels"]);
    assertEquals(await offered(at, ["build", "-I", "k"]), ["kernels"]);
    assertEquals(await offered(at, ["build", ""]), ["kernels", "scale.tc"]);
    assertEquals(await offered(at, ["check", "--werror", "kernels/"]), ["kernels/add.tc"]);
    assertEquals(await offered(at, ["build", "--define", ""]), []);
    assertEquals(await offered(at, ["completions", ""]), [...SHELLS].sort());
    assertEquals(await offered(at, ["explain", "E512"]), [
      "E5120",
      "E5121",
      "E5122",
      "E5123",
      "E5124",
    ]);
    assertEquals(await offered(at, ["help", "ch"]), ["check"]);
  },
});

Deno.test({
  name: "fishCompletions gives a script that fish asks",
  ignore: !await isThere("fish"),
  fn: async () => {
    using workspace = new Workspace({ ...FILES, "tri.fish": fishCompletions(commandWords()) });
    const ask = async (line: string): Promise<string[]> =>
      (await linesOf("fish", `source tri.fish; complete -C '${line}'`, workspace.path))
        .map((found) => found.split("\t")[0] ?? "");
    assertEquals(await ask("tri chec"), ["check"]);
    assertEquals(await ask("tri build --wat"), ["--watch"]);
    assertEquals(await ask("tri build --emit "), ["js", "ts"]);
    assertEquals(await ask("tri completions z"), ["zsh"]);
    assert((await ask("tri build sc")).includes("scale.tc"));
  },
});

Deno.test({
  name: "zshCompletions gives a script that zsh takes, with a case for every command",
  ignore: !await isThere("zsh"),
  fn: async () => {
    using workspace = new Workspace({ tri: zshCompletions(commandWords()) });
    // The words of _arguments, as zsh reads them, for each command.
    for (const name of Object.keys(COMMANDS).filter(isCommand)) {
      const script = `compdef() { : }; source ./tri; _arguments() { print -l -- "$@" }; ` +
        `words=(tri ${name} ''); CURRENT=3; _tri`;
      const specs = await linesOf("zsh", script, workspace.path);
      for (const option of commandRow(name).options) {
        assert(specs.some((spec) => spec.replace(/^\*/, "").startsWith(`--${option}`)), option);
      }
      for (const spec of specs.filter((one) => /^\*?-/.test(one))) {
        assert(/^\*?--?[\w-]+=?\[.*[^\\]\](:.*:.*)?$/.test(spec), spec);
      }
    }
  },
});

/** Texts with everything that a shell could take for its own. */
const AWKWARD: readonly CommandWords[] = [{
  name: "run",
  summary: "it's: a [test] of \\ and $HOME",
  options: [
    {
      name: "mode",
      short: "m",
      help: "it's [a]: b",
      many: true,
      placeholder: "MODE",
      values: { kind: "words", words: ["a", "b"] },
    },
    { name: "dry", help: "no", many: false, placeholder: "", values: { kind: "nothing" } },
  ],
  operands: { kind: "sources" },
}];

Deno.test("zshCompletions and fishCompletions escape what their shells would read", () => {
  const zsh = zshCompletions(AWKWARD);
  assertStringIncludes(zsh, "'run:it'\\''s\\: a [test] of \\ and $HOME'");
  assertStringIncludes(zsh, "'*--mode=[it'\\''s \\[a\\]\\: b]:MODE:(a b)'");
  assertStringIncludes(zsh, "'*-m[it'\\''s \\[a\\]\\: b]:MODE:(a b)'");
  assertStringIncludes(zsh, `'*:run:_files -g "*.tc(-.)"'`);
  const fish = fishCompletions(AWKWARD);
  assertStringIncludes(fish, "-a run -d 'it\\'s: a [test] of \\\\ and $HOME'");
  assertStringIncludes(fish, "-s m -l mode -x -a 'a b' -d 'it\\'s [a]: b'");
});

Deno.test("tri completions prints a script, and exits with 2 without a shell that it knows", async () => {
  using workspace = new Workspace();
  // Deno asks for the modules of a command, which are loaded when it runs.
  const options = { permissions: ["--allow-read"] };
  const { code, stdout } = await workspace.tri(["completions", "bash"], options);
  assertEquals([code, stdout], [0, bashCompletions(commandWords())]);
  for (const words of [[], ["tcsh"], ["bash", "zsh"]]) {
    assertEquals((await workspace.tri(["completions", ...words], options)).code, 2);
  }
});

Deno.test("powershellCompletions has every command, option and value, quoted", () => {
  const commands: CommandWords[] = [...commandWords(), {
    name: "it's",
    summary: "isn't",
    options: [],
    operands: { kind: "words", words: ["don't"] },
  }];
  const lines = powershellCompletions(commands).split("\n").map((line) => line.trim());
  for (const { name, options } of commandWords()) {
    assert(lines.includes(`'${name}' = @{`), name);
    for (const option of options) {
      assert(
        lines.some((line) => line.startsWith(`'--${option.name}' = @{ help = '`)),
        option.name,
      );
    }
  }
  assert(lines.some((line) => line.startsWith("'--emit'") && line.endsWith("@('ts', 'js') }")));
  for (const line of ["'it''s' = @{", "help = 'isn''t'", "operands = @('don''t')"]) {
    assert(lines.includes(line), line);
  }
  // Strings end where they begin, and brackets are closed.
  const code = lines.filter((line) => !line.startsWith("#")).map((line) => {
    const bare = line.replaceAll(/'(?:[^']|\'\')*'|"[^"]*"/g, "");
    assert(!/['"]/.test(bare), line);
    return bare;
  }).join("");
  for (const [open, close] of ["()", "{}", "[]"]) {
    assertEquals(code.split(open ?? "").length, code.split(close ?? "").length);
  }
});

Deno.test({
  name: "powershellCompletions gives a script that PowerShell asks",
  ignore: !await isThere("pwsh"),
  fn: async () => {
    using workspace = new Workspace({ "tri.ps1": powershellCompletions(commandWords()) });
    const ask = (line: string): Promise<string[]> =>
      linesOf(
        "pwsh",
        `. ./tri.ps1; [System.Management.Automation.CommandCompletion]::CompleteInput('${line}', ${line.length}, $null).CompletionMatches.CompletionText`,
        workspace.path,
      );
    assertEquals(await ask("tri chec"), ["check"]);
    assertEquals(await ask("tri build --wat"), ["--watch"]);
    assertEquals(await ask("tri build --emit "), ["js", "ts"]);
    assertEquals(await ask("tri completions po"), ["powershell"]);
  },
});
