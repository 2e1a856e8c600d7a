import { parseJsonc } from "../../../cli/project/jsonc.ts";
import { KERNEL_SETTINGS, SETTINGS_EXAMPLE } from "../../../cli/project/settings_docs.ts";
import { readTriConfig, type TriConfig, triMember } from "../../../cli/project/tri_config.ts";
import { must } from "../../../compiler/support/bug.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assertEquals } from "../../support/assert.ts";

/** The configuration, and each complaint with the text it points at. */
function read(tri: unknown): { config: TriConfig; complaints: string[] } {
  const text = JSON.stringify({ name: "x", tri }, null, 2);
  const reporter = new Reporter();
  const node = must(triMember(parseJsonc({ name: "deno.json", text })), "the key");
  const config = readTriConfig(node, (path) => path === "kernels/t.tc", reporter);
  const complaints = reporter.diagnostics.map(({ code, message, span, hint }) =>
    [code, message, "@", text.slice(span.start, span.end), hint ?? ""].join(" ").trim()
  );
  return { config, complaints };
}

Deno.test("readTriConfig() translates every key into defines and pragma lines", () => {
  const { config, complaints } = read({
    files: {
      "kernels/t.tc": {
        defines: { TM: 32, SHAPE: "TM, TK", OLD: null },
        kernels: {
          transpose: {
            variants: [{ TYPE: "half" }, { TYPE: "float", N: 4 }],
            configs: [{ TM: 64, TN: 32, num_warps: 4 }, { TM: 32 }, {
              num_stages: 2,
              max_registers: 64,
            }],
            key: ["M", "N"],
            grid: ["cdiv(M, TM)", 1],
            tensors: { X: "in TYPE[M, N] strides [ldx, 1]" },
            require: ["K % 8 == 0"],
            options: { num_warps: 8, math: "fast", max_registers: 64 },
          },
        },
      },
    },
  });
  assertEquals(complaints, []);
  const file = must(config.get("kernels/t.tc"), "the file");
  assertEquals(file.defines, [
    { name: "TM", value: "32" },
    { name: "SHAPE", value: "TM, TK" },
    { name: "OLD", value: null },
  ]);
  assertEquals(file.overrides.map(({ kernel }) => kernel), Array(12).fill("transpose"));
  assertEquals(file.overrides.map(({ text }) => text), [
    "variant TYPE=half",
    "variant TYPE=float, N=4",
    "config TM=64, TN=32; num_warps=4",
    "config TM=32",
    "config ; num_stages=2, max_registers=64",
    "key(M, N)",
    "grid(cdiv(M, TM), 1)",
    "tensor X : in TYPE[M, N] strides [ldx, 1]",
    "require(K % 8 == 0)",
    "num_warps=8",
    "math(fast)",
    "max_registers=64",
  ]);
});

Deno.test("readTriConfig() takes the example of docs/reference/settings.md, which has every key", () => {
  const text = JSON.stringify({ tri: SETTINGS_EXAMPLE });
  const reporter = new Reporter();
  const node = must(triMember(parseJsonc({ name: "deno.json", text })), "the key");
  const config = readTriConfig(node, () => true, reporter);
  assertEquals(reporter.diagnostics, []);
  assertEquals([...config.keys()], ["kernels/transpose.tc"]);
  const { transpose } = SETTINGS_EXAMPLE.files["kernels/transpose.tc"].kernels;
  assertEquals(Object.keys(transpose), Object.keys(KERNEL_SETTINGS));
});

Deno.test("readTriConfig() points at unknown keys and suggests known ones", () => {
  assertEquals(read({ file: {} }).complaints, [
    'E9020 Unknown key "file" in "tri" @ "file" Did you mean "files"?',
  ]);
  const { complaints } = read({
    files: { "kernels/t.tc": { kernels: { t: { varaints: [], options: { num_wraps: 1 } } } } },
  });
  assertEquals(complaints, [
    'E9020 Unknown key "varaints" in "t" @ "varaints" Did you mean "variants"?',
    'E9020 Unknown key "num_wraps" in "options" @ "num_wraps" Did you mean "num_warps"?',
  ]);
});

Deno.test("readTriConfig() points at values of the wrong kind", () => {
  assertEquals(read([]).complaints, [
    'E9020 Expected an object for "tri", found an array @ []',
  ]);
  const { complaints } = read({
    files: {
      "kernels/t.tc": {
        defines: { "A B": 1, C: true },
        kernels: { t: { grid: [], key: "M", require: [""], tensors: { X: 1 }, configs: [3] } },
      },
    },
  });
  assertEquals(complaints, [
    'E9020 Not the name of a macro: A B @ "A B"',
    "E9020 Expected a string or a number for the value of C, found a boolean @ true",
    "E9020 A grid has one to three extents @ []",
    'E9020 Expected a list for "key", found a string @ "M"',
    'E9020 Expected a condition in a string, found an empty string @ ""',
    "E9020 Expected a tensor contract in a string, found a number @ 1",
    "E9020 Expected an object for a configuration, found a number @ 3",
  ]);
});

Deno.test("readTriConfig() reports files that are not there and keys given twice", () => {
  assertEquals(read({ files: { "kernels/u.tc": {} } }).complaints, [
    'E9020 No such file in this project: kernels/u.tc @ "kernels/u.tc"',
  ]);
  const reporter = new Reporter();
  const text = '{"files": {}, "files": {}}';
  readTriConfig(parseJsonc({ name: "deno.json", text }), () => true, reporter);
  assertEquals(reporter.diagnostics.map(({ message }) => message), [
    '"files" occurs twice in "tri"',
  ]);
});
