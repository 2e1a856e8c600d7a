/** `tri test`: builds kernels, then runs their tests and the examples in the comments above them. */
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import process from "node:process";
import { escape } from "@std/regexp/escape";
import { runBuild } from "../build/command.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { plural } from "../diagnostics/format.ts";
import { environmentError, EXIT, writeFailure } from "../failure.ts";
import { absolutePath, folderOf, joinPath, relativePath } from "../files/paths.ts";
import { deno, isGranted } from "../host/deno.ts";
import { firstBuilds, isFile, type Source } from "../project/project.ts";
import { openSession } from "../project/session.ts";
import { exampleModule, examplesIn } from "./examples.ts";
import { testsOf } from "./find.ts";
import { childEnvironment } from "../tools/process.ts";

/** The body of the command. */
export async function runTest(invocation: Invocation, context: CommandContext): Promise<number> {
  const code = await runBuild(invocation, context);
  if (code !== EXIT.ok) return code;
  const { project, all } = await openSession(invocation);
  const out = absolutePath(invocation.text("out") ?? "generated");
  const modules = firstBuilds(all).map((source) => ({
    source,
    tests: testsOf(source.path, project.root),
  }));
  const examples: string[] = [];
  try {
    let count = 0;
    const without: string[] = [];
    for (const { source, tests } of modules) {
      const found = examplesIn(source.file);
      count += found.length;
      if (found.length > 0) examples.push(writeExamples(source, out));
      else if (tests.length === 0) without.push(source.file.name);
    }
    const paths = [...new Set(modules.flatMap(({ tests }) => tests)), ...examples];
    const { terminal } = context;
    if (without.length > 0) terminal.say(`without tests: ${without.join(", ")}`);
    if (paths.length === 0) {
      terminal.say("nothing to test: no NAME_test.ts and no example in a kernel's comment");
      return EXIT.ok;
    }
    const files = plural(paths.length - examples.length, "file");
    terminal.say(`testing ${files} and ${plural(count, "example")}`);
    return await runModules(paths, project.root, invocation) === 0 ? EXIT.ok : EXIT.kernels;
  } finally {
    for (const path of examples) rmSync(path, { force: true });
  }
}

/**
 * Writes the module for a source's examples; it is removed afterwards. It is beside the source, because modules in an
 * output folder are usually excluded from tests, and in the language of the wrapper.
 */
function writeExamples({ file, path, stem }: Source, out: string): string {
  const isTyped = isFile(joinPath(out, `${stem}.ts`));
  const folder = folderOf(path);
  const wrapper = relativePath(folder, joinPath(out, `${stem}.${isTyped ? "ts" : "js"}`));
  const specifier = wrapper.startsWith(".") ? wrapper : `./${wrapper}`;
  const name = path.slice(folder.length + 1).replace(/\.tc$/, "");
  const module = joinPath(folder, `.${name}.examples_test.${isTyped ? "ts" : "mjs"}`);
  try {
    writeFileSync(module, exampleModule(file, examplesIn(file), specifier));
  } catch (error) {
    throw writeFailure(module, error, "another place for the kernel");
  }
  return module;
}

/** Runs them by the runtime that runs this command; its report is what the user sees. */
function runModules(
  paths: readonly string[],
  root: string,
  invocation: Invocation,
): Promise<number> {
  const filter = invocation.text("filter");
  const device = invocation.text("device");
  const args = deno !== undefined
    ? [
      ...["test", "--quiet", "--no-check", "--allow-read", "--allow-env", "--allow-ffi"],
      ...(filter === undefined ? [] : ["--filter", filter]),
    ]
    : process.versions["bun"] !== undefined
    ? ["test", ...(filter === undefined ? [] : ["--test-name-pattern", escape(filter)])]
    : ["--test", ...(filter === undefined ? [] : [`--test-name-pattern=${escape(filter)}`])];
  const child = spawn(ownProgram(), [...args, ...paths], {
    cwd: root,
    stdio: "inherit",
    env: { ...childEnvironment(), ...(device === undefined ? {} : { TRI_DEVICE: device }) },
  });
  return new Promise((resolve, reject) => {
    child.on("error", ({ message }) => {
      reject(environmentError(`Cannot start the tests: ${message}`, MAY_NOT_START));
    });
    child.on("close", (code) => resolve(code ?? 1));
  });
}

const MAY_NOT_START = 'Use the task "test-kernels", or run deno with --allow-run.';

/** Permissions name Deno as PATH does, where its program is often behind a link. */
function ownProgram(): string {
  const found = [process.execPath, "deno"].find((command) => isGranted({ name: "run", command }));
  if (found !== undefined) return found;
  throw environmentError("tri may not start the tests", MAY_NOT_START);
}
