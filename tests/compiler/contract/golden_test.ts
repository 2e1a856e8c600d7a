import { renderDiagnostic } from "../../../compiler/support/render.ts";
import { golden } from "../../support/golden.ts";
import { compileFile } from "../../support/compile.ts";

const FOLDER = new URL("../../golden/contract/", import.meta.url);

for (
  const { name } of [...Deno.readDirSync(FOLDER)].filter((entry) => entry.name.endsWith(".tc"))
) {
  Deno.test(`compileFile() reports what is wrong with the contract in ${name}`, () => {
    const text = Deno.readTextFileSync(new URL(name, FOLDER));
    const { diagnostics } = compileFile({ name, text }, { targets: ["sm_80"], verify: true });
    const shown = diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, { color: false }))
      .join("\n");
    golden(new URL(name.replace(/\.tc$/, ".err"), FOLDER), shown);
  });
}
