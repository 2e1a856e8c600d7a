/** `tri new`: a kernel with its test and its benchmark, in the project here or in one that it makes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { camelCase, RESERVED_NAMES, styledNames } from "../../codegen/names.ts";
import { must } from "../../compiler/support/bug.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT, usageError } from "../failure.ts";
import { deno } from "../host/deno.ts";
import {
  type Files,
  type Host,
  kernelFiles,
  type NewKernel,
  projectFiles,
  TEMPLATE_WORDS,
} from "./files.ts";
import { absolutePath, folderOf, joinPath, relativePath } from "../files/paths.ts";
import { isFile, isFolder, openProject } from "../project/project.ts";

/** The body of the command. */
export async function runNew(
  invocation: Invocation,
  { terminal, toolchain }: CommandContext,
): Promise<number> {
  const [name, another] = invocation.operands;
  if (name === undefined || another !== undefined) {
    throw usageError("tri new takes one name", "tri new my_kernel");
  }
  const names = namesOf(name);
  const { root, configFile } = openProject(".");
  const host = invocation.flag("package") ? "deno" : hostOf(configFile);
  const own = invocation.flag("package") || host === "deno" && configFile === undefined;
  const folder = own ? absolutePath(names.kernel) : root;
  if (own && isFolder(folder)) {
    throw usageError(
      `There is a folder ${names.kernel} already`,
      "Take another name, or move the folder.",
    );
  }
  const files = new Map([
    ...(own
      ? projectFiles(names, { publishable: invocation.flag("package"), checkout: checkoutHere() })
      : []),
    ...kernelFiles(names, host),
  ]);
  const compiler = await toolchain.compiler();
  const file = {
    name: `${names.kernel}.tc`,
    text: must(files.get(`kernels/${names.kernel}.tc`), "the kernel"),
  };
  const { diagnostics } = compiler.compileFile(file, { targets: ["sm_90"] });
  const [problem] = diagnostics;
  if (problem !== undefined) {
    throw usageError(
      `A kernel cannot be called ${names.kernel}: ${problem.message}`,
      "Take another name.",
    );
  }
  write(folder, files);
  for (const path of files.keys()) {
    terminal.say(`written: ${relativePath(absolutePath("."), joinPath(folder, path))}`);
  }
  terminal.say(
    own
      // Its tasks are Deno's, which Node and Bun run from npm.
      ? `next: cd ${names.kernel} && ${deno === undefined ? "npx deno" : "deno"} task test`
      : host === "node"
      ? "next: npx tri test kernels --emit js, which builds kernels/ into generated/ first"
      : `next: tri build kernels --out generated, then run tests/${names.kernel}_test.ts`,
  );
  return EXIT.ok;
}

/** A folder with a package.json and no settings of Deno is a project of Node or Bun, if one of these runs the command. */
function hostOf(configFile: string | undefined): Host {
  const isNode = deno === undefined && isFile(absolutePath("package.json")) &&
    (configFile === undefined || configFile === "package.json");
  return isNode ? "node" : "deno";
}

/** The checkout that runs here; undefined for a published tri. */
function checkoutHere(): string | undefined {
  const config = new URL("../../deno.json", import.meta.url);
  if (config.protocol !== "file:") return undefined;
  const path = fileURLToPath(config);
  return isFile(path) ? folderOf(path) : undefined;
}

function namesOf(name: string): NewKernel {
  const kernel = name.replaceAll("-", "_");
  if (!/^[a-z][a-z0-9_]*$/.test(kernel)) {
    throw usageError(
      `A kernel cannot be called ${name}`,
      "Take small letters, digits and _, such as my_kernel.",
    );
  }
  const wrapper = must(styledNames([kernel], camelCase, RESERVED_NAMES).get(kernel), "its style");
  if (TEMPLATE_WORDS.has(wrapper)) {
    throw usageError(`${name} would hide another word of the test`, "Take another name.");
  }
  return { kernel, wrapper };
}

/** Nothing is written where one of the files is there. */
function write(folder: string, files: Files): void {
  for (const path of files.keys()) {
    if (isFile(joinPath(folder, path))) {
      throw usageError(`${joinPath(folder, path)} is there already`);
    }
  }
  for (const [path, text] of files) {
    const file = joinPath(folder, path);
    mkdirSync(folderOf(file), { recursive: true });
    writeFileSync(file, text, { flag: "wx" });
  }
}
