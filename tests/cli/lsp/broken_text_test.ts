import fc from "../../support/property.ts";
import { analyse, spotAt } from "../../../cli/lsp/analysis.ts";
import { completionsAt } from "../../../cli/lsp/completion.ts";
import { definitionAt } from "../../../cli/lsp/definition.ts";
import { hoverAt } from "../../../cli/lsp/hover.ts";
import { signatureAt } from "../../../cli/lsp/signature.ts";
import { symbolsOf } from "../../../cli/lsp/symbols.ts";
import { referencesAt } from "../../../cli/lsp/references.ts";
import { preparedText } from "../support/lsp_text.ts";

const KERNELS = new URL("../../../kernels/", import.meta.url);
const TEXTS = ["transpose.tc", "matmul_plain.tc", "vector_add.tc"].map((name) =>
  Deno.readTextFileSync(new URL(name, KERNELS))
);
const INSERTIONS = ["", "(", "]", "}", "{", '"', "/*", "#", "#pragma tri ", "\\\n", "@", "é", "x["];

Deno.test("the language server answers every question about text that is being edited", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TEXTS),
      fc.nat(10_000),
      fc.nat(40),
      fc.constantFrom(...INSERTIONS),
      fc.boolean(),
      (text, seed, removed, inserted, isEnd) => {
        const at = seed % text.length;
        const edited = text.slice(0, at) + inserted + (isEnd ? "" : text.slice(at + removed));
        const analysis = analyse(preparedText(edited), []);
        symbolsOf(analysis);
        for (const offset of [0, at, at + inserted.length, Math.floor(at / 2), edited.length]) {
          const spot = spotAt(analysis, Math.min(offset, edited.length));
          hoverAt(analysis, spot);
          definitionAt(analysis, spot);
          completionsAt(spot);
          signatureAt(analysis, spot);
          referencesAt(analysis, spot, true);
        }
      },
    ),
    { numRuns: 150 },
  );
});
