import { COMMANDS } from "../../../cli/words/commands.ts";
import { Failure } from "../../../cli/failure.ts";
import { OPTIONS } from "../../../cli/words/options.ts";
import type { Invocation } from "../../../cli/command.ts";
import { commandHelpText, helpText } from "../../../cli/words/help.ts";
import { VERSION } from "../../../cli/version.ts";
import { jobCount } from "../../../cli/words/jobs.ts";
import { selectTargets } from "../../../cli/project/targets.ts";
import { exportsOfCommandLine } from "../../../cli/project/export_names.ts";
import { parseCommandLine } from "../../../cli/words/parse.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "../../support/assert.ts";

function invocation(...words: string[]): Invocation {
  const parsed = parseCommandLine(words);
  if (parsed.kind !== "run") throw new Error(`Not a run: ${parsed.kind}`);
  return parsed.invocation;
}

function failure(...words: string[]): Failure {
  return assertThrows(() => parseCommandLine(words), Failure);
}

Deno.test("OPTIONS are each an option of some command, --version of tri itself", () => {
  const taken = new Set<string>(Object.values(COMMANDS).flatMap(({ options }) => options));
  taken.add("version");
  assertEquals(Object.keys(OPTIONS).filter((name) => !taken.has(name)), []);
});

Deno.test("parseCommandLine() reads defines in all the ways C compilers take them", () => {
  const words = ["-DTM=32", "-D", "S=newaxis, :", "--define", "A=-1", "--define=B=x=y", "-DSDD"];
  assertEquals(invocation("build", ...words).list("define"), [
    "TM=32",
    "S=newaxis, :",
    "A=-1",
    "B=x=y",
    "SDD",
  ]);
});

Deno.test("parseCommandLine() takes a value that begins with a dash", () => {
  assertEquals(invocation("build", "--require", "-M < 3").overrides, [
    { text: "require(-M < 3)", origin: "<--require>" },
  ]);
});

Deno.test("parseCommandLine() binds what follows --kernel to that kernel", () => {
  const { overrides, operands } = invocation(
    "build",
    "--num-warps=8",
    "--kernel",
    "a",
    "--grid",
    "cdiv(M, TM)",
    "dir",
    "--kernel=b",
    "--config",
    "TM=64; num_warps=4",
    "--variant=TYPE=half",
  );
  assertEquals(operands, ["dir"]);
  assertEquals(overrides, [
    { text: "num_warps=8", origin: "<--num-warps>" },
    { kernel: "a", text: "grid(cdiv(M, TM))", origin: "<--grid>" },
    { kernel: "b", text: "config TM=64; num_warps=4", origin: "<--config>" },
    { kernel: "b", text: "variant TYPE=half", origin: "<--variant>" },
  ]);
});

Deno.test("parseCommandLine() refuses a --kernel without options", () => {
  assertStringIncludes(failure("build", "--grid", "M", "--kernel", "a").message, "has no effect");
  assertEquals(invocation("inspect", "f.tc", "--kernel", "a").list("kernel"), ["a"]);
});

Deno.test("parseCommandLine() gives defaults, also those of one command only", () => {
  assertEquals(invocation("build").text("out"), "generated");
  assertEquals(invocation("build").list("arch"), ["all"]);
  assertEquals(invocation("inspect", "f.tc").list("arch"), ["sm_90"]);
  assertEquals(invocation("build", "--arch", "sm_80", "--arch=sm_75").list("arch"), [
    "sm_80",
    "sm_75",
  ]);
});

Deno.test("parseCommandLine() suggests the nearest command and option", () => {
  assertEquals(failure("biuld").remedy, "Did you mean build?");
  assertEquals(failure("build", "--no-cubins").remedy, "Did you mean --no-cubin?");
  assertEquals(failure("build", "--wibble-wobble").remedy, "See tri build --help.");
  assertEquals(failure("doctor", "--embed").exitCode, 2);
  // As a variable of the shell that is not set.
  assertEquals(failure("build", "").message, "tri build got an empty word");
  assertEquals(failure("").message, "The command is an empty word");
});

Deno.test("parseCommandLine() refuses missing, unwanted and repeated values", () => {
  assertEquals(failure("build", "--out").message, "--out needs a value: --out DIR");
  assertEquals(failure("build", "--out=").message, "--out needs a value: --out DIR");
  assertEquals(failure("build", "--json=yes").message, "--json takes no value");
  assertEquals(failure("build", "--out", "a", "--out", "b").message, "--out is given twice");
  assertStringIncludes(failure("--json", "build").message, "cannot come before the command");
});

Deno.test("parseCommandLine() leaves what follows -- alone", () => {
  assertEquals(invocation("check", "--json", "--", "-x.tc").operands, ["-x.tc"]);
});

Deno.test("parseCommandLine() accepts every spelling of help and version", () => {
  for (const words of [[], ["--help"], ["-h"], ["help"]]) {
    assertEquals(parseCommandLine(words), { kind: "answer", text: helpText() });
  }
  for (const words of [["build", "--help"], ["build", "-D", "x", "-h"], ["help", "build"]]) {
    assertEquals(parseCommandLine(words), { kind: "answer", text: commandHelpText("build") });
  }
  for (const words of [["bulid", "--help"], ["help", "bulid"]]) {
    assertStringIncludes(failure(...words).message, "Unknown command: bulid");
  }
  assertEquals(parseCommandLine(["--version"]), { kind: "answer", text: `tri ${VERSION}\n` });
});

Deno.test("parseCommandLine() refuses files where a command takes none", () => {
  assertThrows(() => parseCommandLine(["doctor", "a.tc"]), Failure, "takes no file: a.tc");
});

Deno.test("Values that options cannot have are refused with what they can have", async () => {
  const remedyOf = (read: () => unknown): string | undefined => assertThrows(read, Failure).remedy;
  for (const text of ["0", "x", "-1", "1.5", "99999"]) {
    assertEquals(remedyOf(() => jobCount(text)), "Take a whole number from 1 to 9999.");
  }
  assertEquals(
    remedyOf(() => exportsOfCommandLine(["f"])),
    "Such as --export transpose=transposeMatrix.",
  );
  assertEquals(remedyOf(() => exportsOfCommandLine(["f=class"])), "Take another name.");
  const missing = await assertRejects(() => selectTargets(["sm_80,"]), Failure);
  assertEquals(missing.message, "--arch sm_80,: a name is missing");
});
