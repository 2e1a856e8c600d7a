import Ajv from "ajv/dist/2020.js";
import config from "../../../deno.json" with { type: "json" };
import schema from "../../../docs/manifest.schema.json" with { type: "json" };
import { SCALARS } from "../../../compiler/support/scalar.ts";
import { sha256 as sha256Of } from "../../../cli/files/hash.ts";
import { WRAPPER_ABI } from "../../../compiler/support/abi.ts";
import { buildManifest } from "../../../codegen/manifest.ts";
import { rowsProduct } from "../../support/forms/form_kernel.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { REAL_MAIN, Workspace } from "../support/tri_process.ts";

const validate = new Ajv.default({ strict: true, allErrors: true }).compile(schema);

/** What is wrong with a manifest. */
function faults(manifest: unknown): string[] {
  validate(manifest);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const KERNEL = `char __constant__ *TABLE = calloc(64);
#pragma tri variants TYPE in {float, half}
#pragma tri configs B in {64, 128}
__global__ void fill(TYPE *X, int N __multipleof(4)) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  *?(r < N) (X + r) = *TABLE;
}
`;

Deno.test("docs/manifest.schema.json describes the manifest of the shipped kernels", () => {
  const text = Deno.readTextFileSync(new URL("../../../generated/manifest.json", import.meta.url));
  assertEquals(faults(JSON.parse(text)), []);
});

Deno.test("docs/manifest.schema.json describes manifests of embedded, tuned and unassembled builds", async () => {
  using workspace = new Workspace({
    "k/fill.tc": KERNEL,
    "k/sub/set.tc": KERNEL.replace("fill", "set"),
    "k/none.tc": "",
  });
  for (
    const options of [["--no-cubin"], ["--embed"], ["--compact"], [
      "--configs",
      "all",
      "--no-cubin",
    ]]
  ) {
    const build = ["build", "k", "--out", "out", "--arch", "sm_80,sm_90a", ...options];
    const { code, stderr } = await workspace.tri(build, { main: REAL_MAIN });
    assertEquals(code, 0, stderr);
    const manifest = JSON.parse(workspace.read("out/manifest.json"));
    assertEquals(faults(manifest), [], options.join(" "));
    assertEquals(manifest.$schema, schema.$id);
    assertEquals([manifest.abi, manifest.generator], [WRAPPER_ABI, config.version]);
    for (const { path, bytes, sha256 } of manifest.sources.fill.fill.images) {
      assert(bytes > 0 && /^[0-9a-f]{64}$/.test(sha256));
      if (path === undefined) continue;
      const content = Deno.readFileSync(`${workspace.path}/out/${path}`);
      assertEquals([content.length, sha256Of(content)], [bytes, sha256]);
    }
    assertEquals(manifest.sources.fill.fill.constants, [{ name: "TABLE", bytes: 64 }]);
  }
});

Deno.test("docs/manifest.schema.json describes entries with forms", () => {
  const kernel = rowsProduct();
  const images = kernel.modules.map(({ target }) => ({
    kernel: kernel.name,
    target,
    kind: "ptx" as const,
    path: `rows_product.${target}.ptx`,
    bytes: 1,
    sha256: "0".repeat(64),
    content: () => new Uint8Array(),
  }));
  const facts = { ...buildManifest(kernel, images, false), resources: {} };
  const manifest = {
    $schema: schema.$id,
    format: 1,
    abi: WRAPPER_ABI,
    generator: "0.1.0",
    sources: { rows: { rows_product: facts } },
  };
  assertEquals(faults(JSON.parse(JSON.stringify(manifest))), []);
  const [, hopper] = facts.images;
  const form = hopper?.entries[0]?.forms?.[0];
  assertEquals(form?.symbol, "rows_product_maps");
  for (
    const wrong of [{ ...form, maps: undefined }, { ...form, more: 1 }, { ...form, when: [1] }]
  ) {
    const entries = [{ symbol: "f", threads: 32, sharedBytes: 0, forms: [wrong] }];
    const image = {
      target: "sm_90a",
      kind: "ptx",
      bytes: 1,
      sha256: "0".repeat(64),
      entries,
    };
    const other = { ...manifest, sources: { f: { f: { ...facts, images: [image] } } } };
    assert(faults(JSON.parse(JSON.stringify(other))).length > 0);
  }
});

Deno.test("docs/manifest.schema.json refuses what is no manifest", () => {
  const kernel = {
    schema: 1,
    name: "f",
    doc: "",
    contracts: [],
    instances: [],
    images: [],
    resources: {},
  };
  const manifest = (one: unknown): unknown => ({
    $schema: schema.$id,
    format: 1,
    abi: WRAPPER_ABI,
    generator: "0.1.0",
    sources: { f: { f: one } },
  });
  assertEquals(faults(manifest(kernel)), []);
  assertEquals(faults(manifest({ ...kernel, constants: [{ name: "AD", bytes: 256 }] })), []);
  const image = {
    target: "sm_90",
    kind: "ptx",
    bytes: 1,
    sha256: "0".repeat(64),
    entries: [],
  };
  assertEquals(faults(manifest({ ...kernel, images: [image] })), []);
  for (
    const wrong of [
      { ...kernel, name: 1 },
      { ...kernel, more: 1 },
      { ...kernel, constants: [{ name: "AD", bytes: 0 }] },
      { ...kernel, constants: [{ name: "A D", bytes: 4 }] },
      { ...kernel, images: [{ ...image, kind: "elf" }] },
      { ...kernel, images: [{ ...image, target: "gfx90" }] },
      { ...kernel, images: [{ ...image, bytes: 0 }] },
      { ...kernel, images: [{ ...image, sha256: "0" }] },
      { ...kernel, resources: { sm_90: { f: { registers: -1 } } } },
    ]
  ) assert(faults(manifest(wrong)).length > 0, JSON.stringify(wrong));
  assert(faults({ format: 2, sources: {} }).length > 0);
});

Deno.test("docs/manifest.schema.json is of this version and lists the types of elements", () => {
  assert(schema.$id.includes(`/@tri/tri/${config.version}/`));
  assert(config.publish.include.includes("docs/manifest.schema.json"));
  assertEquals(schema.$defs.scalar.enum, Object.keys(SCALARS));
});
