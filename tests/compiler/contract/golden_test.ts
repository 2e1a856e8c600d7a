import type { TargetName } from "../../../compiler/targets.ts";
import { renderDiagnostic } from "../../../compiler/support/render.ts";
import { golden } from "../../support/golden.ts";
import { compileFile } from "../../support/compile.ts";

const FOLDER = new URL("../../golden/contract/", import.meta.url);

for (
  const { name } of [...Deno.readDirSync(FOLDER)].filter((entry) => entry.name.endsWith(".tc"))
) {
  Deno.test(`compileFile() reports what is wrong with the contract in ${name}`, () => {
    const text = Deno.readTextFileSync(new URL(name, FOLDER));
    const targets: TargetName[] = name === "targets.tc"
      ? ["sm_75", "sm_80", "sm_90", "sm_90a"]
      : ["sm_80"];
    const { diagnostics } = compileFile({ name, text }, { targets, verify: true });
    const shown = diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, { color: false }))
      .join("\n");
    golden(new URL(name.replace(/\.tc$/, ".err"), FOLDER), shown);
  });
}
