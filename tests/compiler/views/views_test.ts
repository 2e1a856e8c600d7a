/** What `tri inspect --stage views` says of the loads of dot operands: recorded, to be read. */
import { inspect } from "../../../compiler/mod.ts";
import type { Define } from "../../../compiler/options.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import type { SourceFile } from "../../../compiler/support/source.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { golden } from "../../support/golden.ts";
import { shipped } from "../../support/shipped.ts";

const FOLDER = new URL("../../golden/views/", import.meta.url);

function read(folder: URL, name: string): SourceFile {
  return { name, text: Deno.readTextFileSync(new URL(name, folder)) };
}

function views(file: SourceFile, defines: readonly Define[] = []): string {
  return inspect(file, { targets: ["sm_90a"], defines, include: shipped, verify: true }, "views");
}

const REFUSED = Array.from({ length: 14 }, (_, index) => ({ name: "CASE", value: String(index) }));

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
    const text = views(shipped(`${name}.tc`)).replaceAll(/^(\S+\.tc):\d+/gm, "$1");
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
  const file = shipped("conv2d_backward.tc");
  const options = { targets: ["sm_90a"], include: shipped, verify: true } as const;
  const text = inspect(file, options, "views", selection);
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
  const text = inspect(shipped("matmul_plain.tc"), { targets: ["sm_90"] }, "views");
  assertEquals([...text.matchAll(/no view: (.*)/g)].map(([, why]) => why), [
    ...Array<string>(4).fill("its dot does not run on warp groups"),
  ]);
});

function plans(name: string, target: TargetName, variant: string): string {
  const options = { targets: [target], include: shipped, verify: true };
  return inspect(shipped(`${name}.tc`), options, "plan", { variant })
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

const ROWS = `
#pragma tri config; num_warps=WARPS
__global__ void k(half *A __noalias, half *B __noalias, float *C __noalias, int K) {
  int rm[M] = 0 ... M;
  int rk[64] = 0 ... 64;
  float sum[M, 64] = 0;
  for (int k = 0; k < K; k += 64) {
    half a[M, 64] = *?(k + rk[newaxis, :] < K) (A + rm[:, newaxis] * K + k + rk[newaxis, :]);
    half b[64, 64] = *?(k + rk[:, newaxis] < K) (B + (k + rk[:, newaxis]) * 64 + rk[newaxis, :]);
    float s[M, 64] = a @ b;
    sum += LEFT @ b;
  }
  *(C + rm[:, newaxis] * 64 + rk[newaxis, :]) = sum;
}
`;

Deno.test("findViews() says which rows and warps keep a dot from warp groups", () => {
  const cases = [
    ["32", "4", "a", "it has 32 rows, a group takes 64"],
    ["64", "2", "a", "a block has 2 warps, a group four"],
    ["128", "4", "(half[M, 64])s", "chained dots of 128 rows take 8 warps, not 4"],
    ["64", "4", "(a + 1.0h)", "its dot takes an operand that threads compute"],
  ] as const;
  for (const [rows, warps, left, why] of cases) {
    const text = ROWS.replace("WARPS", warps).replace("LEFT", left);
    const found = views({ name: "rows.tc", text }, [{ name: "M", value: rows }]);
    assert(found.includes(why), `${why}:\n${found}`);
  }
});
