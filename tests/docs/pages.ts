/**
 * Tests every block of a page: commands and programs are run, in the order of the page, in a copy of the
 * repository; what a page shows as output is compared; pieces of files must be in them. On the emulator, but for what
 * needs a GPU.
 */
import * as path from "node:path";
import { assert, assertEquals } from "../support/assert.ts";
import { mayBless } from "../support/bless.ts";
import { gpuReason, hasGpu } from "../support/gpu.ts";
import { NOT_TRIED, sampled, triesLong } from "../support/sampled.ts";
import { typeErrors } from "../support/tools/type_check.ts";
import { type Block, differenceIn, readBlocks } from "./blocks.ts";
import { makeWorkspace, type Ran, ROOT, type Workspace } from "./workspace.ts";

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

async function exists(name: string): Promise<boolean> {
  try {
    await Deno.stat(name);
    return true;
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
  if (marks.sometimes !== undefined && !triesLong("blocks of pages that a test does sooner")) {
    return `${NOT_TRIED}; ${marks.sometimes} does the same`;
  }
  if (marks.needs === undefined) return undefined;
  const reason = NEEDS[marks.needs];
  if (reason === undefined) throw new Error(`line ${line}: no test can look for ${marks.needs}`);
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
): Promise<string[]> {
  const programs: string[] = [];
  // Output belongs to the block before it, if that was run.
  let last: Ran | "skipped" | undefined;
  for (const block of blocks) {
    const location = `${page}:${block.line}`;
    const { file, write, first, fails = "0" } = block.marks;
    if (skipped(block) !== undefined) {
      last = "skipped";
      continue;
    }
    if (first !== undefined) {
      const { code, all } = await workspace.shell(first);
      assertEquals(code, 0, `${location}, first\n${all}`);
    }
    if (file !== undefined) {
      const text = await Deno.readTextFile(path.join(ROOT, file));
      assert(unindent(text).includes(unindent(block.text)), `${location} is not in ${file}`);
      last = undefined;
    } else if (write !== undefined) {
      await workspace.write(write, block.text);
      if (block.language === "ts") programs.push(write);
      last = undefined;
    } else if (block.language === "text") {
      assert(last !== undefined, `${location}: no block before it was run`);
      if (last === "skipped") continue;
      const difference = differenceIn(block.text, last.stdout);
      if (difference !== undefined && isBlessed(page, block)) {
        await bless(page, block, last.stdout);
        continue;
      }
      assert(difference === undefined, `${location} shows\n${difference}\nprinted is\n${last.all}`);
    } else {
      assert(RUNNABLE.has(block.language), `${location}: no runner for ${block.language}`);
      const program = `${path.basename(page, ".md")}_${block.line}.ts`;
      if (block.language === "ts") programs.push(program);
      last = await runOne(block, workspace, program);
      assertEquals(`${last.code}`, fails, `${location}\n${last.all}`);
    }
  }
  return programs;
}

/** Whether to write what is printed to the page; an output with … is somebody's choice. */
function isBlessed(page: string, { text }: Block): boolean {
  return mayBless(path.join(ROOT, page)) && !text.includes("…");
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
  { language, text }: Block,
  workspace: Workspace,
  program: string,
): Promise<Ran> {
  if (language === "sh") return await workspace.shell(text);
  await workspace.write(program, text);
  return await workspace.deno("run", "-q", "--no-check", "-P=gpu", program);
}

/** Pages that are tried in one copy of the repository. */
export interface Pages {
  readonly title: string;
  readonly pages: readonly string[];
  /** Those of the library in the copy: the fewer the sooner. */
  readonly kernels: readonly string[];
}

/** Programs of pages, and what they import, in a folder for each copy. */
class Programs {
  readonly #folder: string = Deno.makeTempDirSync({ prefix: "tri-programs-" });
  readonly #files: string[] = [];

  /** Takes programs, and all that was built, out of a copy that is about to be removed. */
  async take({ folder }: Workspace, title: string, programs: readonly string[]): Promise<void> {
    const own = path.join(this.#folder, title);
    const generated = path.join(folder, "generated");
    await Deno.mkdir(own, { recursive: true });
    if (await exists(generated)) await Deno.rename(generated, path.join(own, "generated"));
    for (const program of programs) {
      const file = path.join(own, program);
      await Deno.mkdir(path.dirname(file), { recursive: true });
      await Deno.copyFile(path.join(folder, program), file);
      this.#files.push(file);
    }
  }

  /** What TypeScript says of all of them: once, for it reads the run time again each time. */
  async typeErrors(): Promise<string> {
    try {
      return await typeErrors(this.#folder, this.#files);
    } finally {
      await Deno.remove(this.#folder, { recursive: true });
    }
  }
}

/** Tests pages. */
export function testPages(all: readonly Pages[]): void {
  const found = new Programs();
  for (const each of all) testOnce(each, found);
  Deno.test("programs on the pages have no errors of types", async () => {
    assertEquals(await found.typeErrors(), "");
  });
}

/** A run tries an eighth of the pages, which do not need each other, and those that it may write. */
function chosenOf(pages: readonly string[]): readonly string[] {
  const some = sampled(pages, Math.ceil(pages.length / 8));
  return pages.filter((page) => some.includes(page) || mayBless(path.join(ROOT, page)));
}

/** Tests pages in one copy; their programs go to `found`. */
function testOnce({ title, pages, kernels }: Pages, found: Programs): void {
  const read = pages.map((page) => ({
    page,
    blocks: readBlocks(Deno.readTextFileSync(path.join(ROOT, page))),
  }));
  for (const { page, blocks } of read) {
    for (const block of blocks) {
      const reason = skipped(block);
      if (reason === undefined) continue;
      const name = `${page}:${block.line} is not run [skipped: ${reason}]`;
      Deno.test({ name, ignore: true, fn: () => {} });
    }
  }
  Deno.test(`${title}: blocks run, and print what is shown`, async (t) => {
    await using workspace = await makeWorkspace(kernels);
    await makeSmaller(workspace);
    const programs: string[] = [];
    const chosen = chosenOf(pages);
    for (const { page, blocks } of read.filter(({ page }) => chosen.includes(page))) {
      await t.step(page, async () => {
        programs.push(...await runBlocks(page, blocks, workspace));
      });
    }
    await found.take(workspace, title, programs);
  });
}
