/**
 * Every block of the README and the guide: commands and programs are run, in the order of the page, in a copy of the
 * repository; what a page shows as output is compared; pieces of files must be in them. On the emulator, but for what
 * needs a GPU.
 */
import * as path from "node:path";
import { assert, assertEquals } from "../support/assert.ts";
import { gpuReason, hasGpu } from "../support/gpu.ts";
import { type Block, differenceIn, readBlocks } from "./blocks.ts";
import { makeWorkspace, type Ran, ROOT, type Workspace } from "./workspace.ts";

/** Pages, and the kernels of the library that they build; the fewer the sooner. */
const PAGES: readonly (readonly [page: string, kernels: readonly string[]])[] = [
  ["README.md", ["transpose.tc"]],
  ...[...Deno.readDirSync(path.join(ROOT, "docs/guide"))].map(({ name }) => name)
    .filter((name) => name.endsWith(".md")).sort()
    .map((name): [string, string[]] => [`docs/guide/${name}`, []]),
];

const RUNNABLE = new Set(["sh", "ts"]);

/** Two element types of the transposition are as good as fourteen here, and are built sooner. */
async function makeSmaller({ folder }: Workspace): Promise<void> {
  const file = path.join(folder, "kernels/transpose.tc");
  if (!await exists(file)) return;
  const text = await Deno.readTextFile(file);
  const smaller = text.replace(/variants TYPE in \{.*\}/, "variants TYPE in {float, half}");
  assert(smaller !== text, "kernels/transpose.tc lists its element types");
  await Deno.writeTextFile(file, smaller);
}

async function exists(file: string): Promise<boolean> {
  try {
    return (await Deno.stat(file)).isFile;
  } catch {
    return false;
  }
}

/** What a block may need, and why it is not here. */
const NEEDS: Readonly<Record<string, () => string | undefined>> = {
  "a GPU": () => hasGpu ? undefined : gpuReason,
  npm: () => canRun("npm") && canRun("node") ? undefined : "there is no Node with npm",
};

/** Why a block is not run here. */
function skipped({ line, marks }: Block): string | undefined {
  if (marks["not run"] !== undefined) return marks["not run"];
  if (marks.needs === undefined) return undefined;
  const reason = NEEDS[marks.needs];
  if (reason === undefined) throw new Error(`line ${line}: nobody can look for ${marks.needs}`);
  return reason();
}

function canRun(program: string): boolean {
  try {
    return new Deno.Command(program, { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

async function runBlocks(
  page: string,
  blocks: readonly Block[],
  workspace: Workspace,
): Promise<void> {
  const programs: string[] = [];
  // Output belongs to the block before it, if that was run.
  let last: Ran | "skipped" | undefined;
  for (const block of blocks) {
    const place = `${page}:${block.line}`;
    const { file, write, fails = "0" } = block.marks;
    if (skipped(block) !== undefined) {
      last = "skipped";
    } else if (file !== undefined) {
      const text = await Deno.readTextFile(path.join(ROOT, file));
      assert(unindent(text).includes(unindent(block.text)), `${place} is not in ${file}`);
      last = undefined;
    } else if (write !== undefined) {
      await workspace.write(write, block.text);
      last = undefined;
    } else if (block.language === "text") {
      assert(last !== undefined, `${place}: no block before it was run`);
      if (last === "skipped") continue;
      const difference = differenceIn(block.text, last.stdout);
      if (difference !== undefined && mayBless(block)) {
        await bless(page, block, last.stdout);
        continue;
      }
      assert(difference === undefined, `${place} shows\n${difference}\nprinted is\n${last.all}`);
    } else {
      assert(RUNNABLE.has(block.language), `${place}: nobody knows how to run ${block.language}`);
      last = await runOne(block, workspace, programs);
      assertEquals(`${last.code}`, fails, `${place}\n${last.all}`);
    }
  }
  if (programs.length === 0) return;
  const { code, all } = await workspace.deno("check", "-q", ...programs);
  assertEquals(code, 0, `${page}: ${all}`);
}

/** Whether to write what is printed to the page; an output with … is somebody's choice. */
function mayBless({ text }: Block): boolean {
  return Deno.env.get("TRI_BLESS") !== undefined && !text.includes("…");
}

async function bless(page: string, { text }: Block, printed: string): Promise<void> {
  const file = path.join(ROOT, page);
  const fence = "```text\n";
  const old = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, old.replace(fence + text, () => fence + printed));
}

/** A piece from inside a function stands at the left margin of a page. */
function unindent(text: string): string {
  return text.replace(/^ +/gm, "");
}

async function runOne(
  { language, line, text }: Block,
  workspace: Workspace,
  programs: string[],
): Promise<Ran> {
  if (language === "sh") return await workspace.shell(text);
  const program = `block_${line}.ts`;
  await workspace.write(program, text);
  programs.push(program);
  return await workspace.deno("run", "-q", "--no-check", "-P=gpu", program);
}

for (const [page, kernels] of PAGES) {
  const blocks = readBlocks(Deno.readTextFileSync(path.join(ROOT, page)));
  for (const block of blocks) {
    const reason = skipped(block);
    if (reason === undefined) continue;
    const name = `${page}:${block.line} is not run [skipped: ${reason}]`;
    Deno.test({ name, ignore: true, fn: () => {} });
  }
  Deno.test(`${page} is true: its blocks run, and print what it shows`, async () => {
    await using workspace = await makeWorkspace(kernels);
    await makeSmaller(workspace);
    await runBlocks(page, blocks, workspace);
  });
}
