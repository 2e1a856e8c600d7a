/**
 * The npm package `@tri/cli` as its users get it: packed, installed in an empty project without a registry, and run by Node,
 * and by Bun where there is one. Whatever the command says and writes there has to be what it says and writes on Deno.
 */
import { realToolchain } from "../../cli/tools/real_toolchain.ts";
import { Staging } from "../../cli/files/staging.ts";
import { packCli } from "../../scripts/npm/pack_cli.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { NOT_TRIED, triesLong } from "../support/sampled.ts";
import { must0 } from "../support/tools/run_program.ts";
import { runHere } from "./support/run_here.ts";
import { fakePtxas, Workspace } from "./support/tri_process.ts";

/** With two variants and a condition, so that wrapper and PTX have several entries. */
const KERNEL = `#pragma tri variants TYPE in {float, half}
// Multiplies by a number.
__global__ void scale(TYPE *X, TYPE *Y, float factor, int n) {
  int r[64] = get_program_id(0) * 64 + 0 ... 64;
  *?(r < n) (Y + r) = *?(r < n) (X + r) * factor;
}
`;
const MISTAKE = "__global__ void f(float *X) {\n  int y = X;\n}\n";

const MOST_BYTES = 4_000_000;

async function isThere(program: string): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args: ["--version"] }).output()).success;
  } catch {
    return false;
  }
}

const hasNode = await isThere("node") && await isThere("npm");
const hasBun = await isThere("bun");

/** How the installed command is started, by the runtime that runs it. */
const RUNTIMES: Readonly<Record<string, string>> = {
  Node: "node",
  ...hasBun ? { Bun: "bun" } : {},
};

/** The installed command. */
const TRI = "node_modules/@tri/cli/bin/tri.js";

/** tests/npm/package_test.ts compiles with the command on Node in every run. */
const missing = !hasNode
  ? "there is no Node with npm"
  : triesLong("the packed command beside Deno's")
  ? undefined
  : NOT_TRIED;

Deno.test({
  name: `@tri/cli does on Node ${hasBun ? "and Bun " : ""}what it does on Deno${
    missing !== undefined ? ` [skipped: ${missing}]` : hasBun ? "" : " [not on Bun: there is none]"
  }`,
  ignore: missing !== undefined,
  fn: async (t) => {
    using workspace = new Workspace({
      "package.json": '{ "type": "module" }\n',
      "kernels/scale.tc": KERNEL,
      "wrong/f.tc": MISTAKE,
      "file": "a file",
    });
    // It opens its output by name, as ptxas does.
    workspace.writeProgram(
      "bin/ptxas",
      fakePtxas({
        version: "99.1",
        archs: ["sm_80"],
        assemble: "printf '\\177ELF%s' \"$ptx\" >/dev/stdout",
      }),
    );
    const { file: tarball } = await packCli(workspace.path);
    assert(Deno.statSync(tarball).size < MOST_BYTES, "the package has got large");
    const flags = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await must0(workspace.path, "npm", "install", ...flags, tarball);
    const { code, stdout } = await runIn(workspace, "npx", "--offline", "tri", "--version");
    const { version } = JSON.parse(workspace.read("node_modules/@tri/cli/package.json"));
    assertEquals([code, stdout], [0, `tri ${version}\n`]);

    for (const [runtime, program] of Object.entries(RUNTIMES)) {
      for (const args of COMMANDS) {
        await t.step(`${runtime}: tri ${args.join(" ")}`, () => compare(workspace, program, args));
      }
      await t.step(`${runtime}: a build waits for one on Deno`, () => waits(workspace, program));
      await t.step(
        `${runtime}: tri new adds a kernel to the package`,
        () => adds(workspace, program),
      );
    }
  },
});

const BUILD = ["build", "kernels", "--arch", "sm_80,sm_90", "--out"];
const COMMANDS: readonly (readonly string[])[] = [
  ["--help"],
  [...BUILD, "out"],
  [...BUILD, "file/out", "--no-cubin"],
  ["check", "wrong"],
  ["check", "nowhere"],
  ["inspect", "kernels/scale.tc", "--stage", "ptx", "--arch", "sm_80"],
];

/** The same command line on Deno, in this process, is the reference: what it says, ends with and writes. */
async function compare(
  workspace: Workspace,
  program: string,
  args: readonly string[],
): Promise<void> {
  const expected = await runHere(args, {
    toolchain: realToolchain,
    cwd: workspace.path,
    env: environmentOf(workspace),
  });
  const files = takeOutput(workspace);
  const found = await runIn(workspace, program, TRI, ...args);
  assertEquals(withoutTimes(found), withoutTimes(expected));
  assertEquals(takeOutput(workspace), files);
}

/** The files of a build, which it removes; the record has the identity of tri, which is not the same in a checkout. */
function takeOutput(workspace: Workspace): Map<string, string> {
  const files = workspace.files("out");
  if (files.size > 0) workspace.remove("out");
  files.delete("out/.tri-build.json");
  return files;
}

/** Its test and its benchmark are JavaScript, which every Node runs, and there is no project of Deno. */
async function adds(workspace: Workspace, program: string): Promise<void> {
  const { code, stderr } = await runIn(workspace, program, TRI, "new", "my_kernel");
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "next: npx tri test kernels --emit js");
  const test = workspace.read("tests/my_kernel_test.js");
  assertStringIncludes(test, 'import { test } from "node:test";');
  assertStringIncludes(test, '"../generated/my_kernel.js"');
  assertStringIncludes(workspace.read("bench/my_kernel.js"), '"../generated/my_kernel.js"');
  for (const path of ["kernels/my_kernel.tc", "tests", "bench"]) workspace.remove(path);
}

/** A lock that this process has makes it wait. */
async function waits(workspace: Workspace, program: string): Promise<void> {
  const staging = await Staging.open(`${workspace.path}/out`);
  const child = new Deno.Command(program, {
    args: [TRI, ...BUILD, "out", "--no-cubin"],
    cwd: workspace.path,
    env: environmentOf(workspace),
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let said = "";
  let isWaiting = false;
  for await (const part of child.stderr.pipeThrough(new TextDecoderStream())) {
    said += part;
    if (isWaiting || !said.includes("waiting for another build into")) continue;
    isWaiting = true;
    staging[Symbol.dispose]();
  }
  assertEquals((await child.status).code, 0, said);
  assertStringIncludes(said, "built 1 source");
  takeOutput(workspace);
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const environmentOf = ({ path }: Workspace): Record<string, string> => ({
  PATH: `${path}/bin:${Deno.env.get("PATH") ?? ""}`,
  NO_COLOR: "1",
  TRI_PTXAS: `${path}/bin/ptxas`,
});

async function runIn(workspace: Workspace, program: string, ...args: string[]): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: workspace.path,
    env: environmentOf(workspace),
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Builds say how long they took. */
const withoutTimes = (ended: Ended): Ended => ({
  ...ended,
  stderr: ended.stderr.replace(/ in (?:\d+s )?\d+ms\b/g, ""),
});
