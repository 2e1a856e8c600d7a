/** What `tri inspect --stage views` says of the loads of dot operands: recorded, to be read. */
import { inspect } from "../../../compiler/mod.ts";
import type { Define } from "../../../compiler/options.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import type { SourceFile } from "../../../compiler/support/source.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { golden } from "../../support/golden.ts";

const FOLDER = new URL("../../golden/views/", import.meta.url);
const KERNELS = new URL("../../../kernels/", import.meta.url);

function read(folder: URL, name: string): SourceFile {
  return { name, text: Deno.readTextFileSync(new URL(name, folder)) };
}

function views(file: SourceFile, defines: readonly Define[] = []): string {
  return inspect(file, { targets: ["sm_90a"], defines, verify: true }, "views");
}

const REFUSED = Array.from({ length: 13 }, (_, index) => ({ name: "CASE", value: String(index) }));

for (
  const name of [
    "matmul",
    "matmul_plain",
    "batched_matmul",
    "split_k_matmul",
    "attention",
    "attention_varlen",
  ]
) {
  Deno.test(`findViews() finds in kernels/${name}.tc what is recorded`, () => {
    // Lines of shipped kernels come and go.
    const text = views(read(KERNELS, `${name}.tc`)).replaceAll(/^(\S+\.tc):\d+/gm, "$1");
    golden(new URL(`${name}.views`, FOLDER), text);
  });
}

Deno.test("findViews() bounds loads without masks by loops and stores", () => {
  const file = read(FOLDER, "unmasked.tc");
  const texts = [[], [{ name: "ORDER", value: "1" }]].map((defines) => views(file, defines));
  golden(new URL("unmasked.views", FOLDER), texts.join("\n"));
});

Deno.test("findViews() finds what published kernels load", () => {
  const file = read(FOLDER, "published.tc");
  const texts = ["1", "2", "2", "1"].map((parts, at) =>
    views(file, [{ name: "CASE", value: String(at) }, { name: "PARTS", value: parts }])
  );
  golden(new URL("published.views", FOLDER), texts.join("\n"));
});

Deno.test("findViews() demands that products of the launch's numbers do not wrap", () => {
  const selection = { kernel: "conv2d_backward_weights" };
  const file = read(KERNELS, "conv2d_backward.tc");
  const text = inspect(file, { targets: ["sm_90a"], verify: true }, "views", selection);
  for (
    const found of [
      "dy = [64, 64] of float16 tensor at DY",
      "extent N * P * Q, stride stride_yq: axis 0 of the tile",
      "when N * P * Q <= 2147483647\n",
    ]
  ) {
    assert(text.includes(found), found);
  }
});

Deno.test("findViews() says why a load has no view", () => {
  const file = read(FOLDER, "refused.tc");
  const texts = REFUSED.map((define) => `// CASE ${define.value}\n${views(file, [define])}`);
  golden(new URL("refused.views", FOLDER), texts.join("\n"));
});

Deno.test("findViews() finds none for targets without warp groups", () => {
  const text = inspect(read(KERNELS, "matmul_plain.tc"), { targets: ["sm_90"] }, "views");
  assertEquals([...text.matchAll(/no view: (.*)/g)].map(([, why]) => why), [
    ...Array<string>(4).fill("its dot does not run on warp groups"),
  ]);
});

function plans(name: string, target: TargetName, variant: string): string {
  const options = { targets: [target], verify: true };
  return inspect(read(KERNELS, `${name}.tc`), options, "plan", { variant })
    .replaceAll(/^( +\S+\.tc):\d+/gm, "$1");
}

Deno.test("printPlans() says how dots get their operands and why loads are no tensor copies", () => {
  const texts = [
    ["matmul", "sm_90a", "float16"],
    ["matmul", "sm_90a", "float32"],
    ["matmul", "sm_80", "float16"],
    ["matmul_narrow", "sm_75", "tf32"],
    ["attention", "sm_90a", "float16_D64"],
  ] as const;
  const shown = texts.map(([name, target, variant]) =>
    `// ${name} ${target} ${variant}\n${plans(name, target, variant)}`
  );
  golden(new URL("entries.plan", FOLDER), shown.join("\n"));
});
