/** The transpositions of the tutorials compile for every element type and target, without a remark. */
import { type TargetName, TARGETS } from "../../compiler/mod.ts";
import { parsePtx } from "../../compiler/ptx/parse.ts";
import { verifyPtx } from "../../compiler/ptx/verify.ts";
import { assertEquals } from "../support/assert.ts";
import { compileFile } from "../support/compile.ts";
import { sampled } from "../support/sampled.ts";

const TYPES = [
  "char",
  "unsigned char",
  "short",
  "unsigned short",
  "int",
  "unsigned",
  "long",
  "unsigned long",
  "half",
  "bfloat16",
  "float",
  "double",
  "float8e4",
  "float8e5",
];
const FOLDER = new URL("../kernels/seeds/", import.meta.url);
const targets = Object.keys(TARGETS).filter((name): name is TargetName => name in TARGETS);

for (
  const { name } of [...Deno.readDirSync(FOLDER)].filter(({ name }) => name.endsWith(".tc")).sort((
    a,
    b,
  ) => a.name < b.name ? -1 : 1)
) {
  Deno.test(`compileFile() compiles ${name} for every target, whatever its element type`, () => {
    const text = Deno.readTextFileSync(new URL(name, FOLDER));
    for (const type of sampled(TYPES, TYPES.length / 4, name.length)) {
      const { diagnostics, kernels } = compileFile({ name, text }, {
        targets,
        defines: [
          { name: "TYPE", value: type },
          { name: "TM", value: "32" },
          { name: "TN", value: "64" },
        ],
        verify: true,
      });
      assertEquals(diagnostics.map(({ message }) => message), [], type);
      const modules = kernels.flatMap((kernel) => kernel.modules);
      assertEquals(modules.map(({ target }) => target), targets);
      for (const { ptx } of modules) assertEquals(verifyPtx(parsePtx(ptx)), [], type);
    }
  });
}

Deno.test("compileFile() infers what the pragmas say for tiles of any extents, 1 included", () => {
  const name = "seed_transpose_checked.tc";
  const text = Deno.readTextFileSync(new URL(name, FOLDER));
  const pragmas = [
    "grid(cdiv(M, TM), cdiv(N, TN))",
    "tensor X : in TYPE[M, N] strides [ldx, 1]",
    "tensor Y : out TYPE[N, M] strides [ldy, 1]",
  ];
  for (const [TM, TN] of [[1, 1], [1, 8], [8, 1], [2, 4], [64, 64]]) {
    const { diagnostics } = compileFile({ name, text }, {
      targets: ["sm_80"],
      defines: [
        { name: "TYPE", value: "float" },
        { name: "TM", value: `${TM}` },
        { name: "TN", value: `${TN}` },
      ],
      overrides: pragmas.map((pragma) => ({ text: pragma, origin: "<test>" })),
    });
    assertEquals(diagnostics.map(({ message }) => message), [], `${TM} x ${TN}`);
  }
});
