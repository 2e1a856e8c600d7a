/** The kernels of the guide: half are compiled for two targets that the seed chooses, a quarter assembled, and each is on a page. */
import * as path from "node:path";
import { assert, assertEquals } from "../support/assert.ts";
import { halfOf, sampled, testsInTurn } from "../support/sampled.ts";
import { TARGET_NAMES } from "../support/targets.ts";
import { ROOT } from "./workspace.ts";

const test = testsInTurn(3);

const KERNELS = path.join(ROOT, "docs/guide/kernels");
const NAMES = [...Deno.readDirSync(KERNELS)].map(({ name }) => name).toSorted();

async function tri(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "cli/main.ts", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const said = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
  assertEquals(code, 0, said);
  assert(!/warning/i.test(said), said);
}

const CHECKED = sampled(TARGET_NAMES, 2).join(",");
const ASSEMBLED = sampled(["sm_75", "sm_90a"], 1).join(",");

Deno.test(`tri check finds nothing wrong with the kernels of the guide, for ${CHECKED}`, async () => {
  const some = halfOf(NAMES).map((name) => path.join(KERNELS, name));
  await tri("check", ...some, "--werror", "--arch", CHECKED);
});

test(`tri build assembles kernels of the guide for ${ASSEMBLED}, without a warning`, async () => {
  const out = await Deno.makeTempDir({ prefix: "tri-guide-" });
  try {
    const some = sampled(NAMES, Math.ceil(NAMES.length / 4))
      .map((name) => path.join(KERNELS, name));
    await tri("build", ...some, "--out", out, "--werror", "--arch", ASSEMBLED);
  } finally {
    await Deno.remove(out, { recursive: true });
  }
});

Deno.test("every kernel of the guide is shown on one of its pages", () => {
  const folder = path.join(ROOT, "docs/guide");
  const pages = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".md"))
    .map(({ name }) => Deno.readTextFileSync(path.join(folder, name))).join("");
  for (const name of NAMES) {
    assert(pages.includes(`<!-- file: docs/guide/kernels/${name} -->`), name);
  }
});
