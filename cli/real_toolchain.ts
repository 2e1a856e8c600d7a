/** The compiler and code generator that ship with tri. */
import type { Toolchain } from "./toolchain.ts";
import { toolIdentity } from "./version.ts";

export const realToolchain: Toolchain = {
  identity: toolIdentity,
  compiler: () => import("../compiler/mod.ts"),
  codegen: async () => {
    const { generateWrapper } = await import("../codegen/mod.ts");
    return { generate: generateWrapper, index: () => "" };
  },
  render: async () => {
    const { diagnosticToJson, renderDiagnostic } = await import("../compiler/support/render.ts");
    return {
      text: (diagnostic, color) => renderDiagnostic(diagnostic, { color }),
      json: diagnosticToJson,
    };
  },
};
