/** The compiler and code generator that ship with tri. */
import type { Toolchain } from "./toolchain.ts";
import { toolIdentity } from "../version.ts";

export const realToolchain: Toolchain = {
  identity: toolIdentity,
  compiler: () => import("../../compiler/mod.ts"),
  codegen: async () => {
    const { CodegenError, generateIndex, generateWrapper } = await import("../../codegen/mod.ts");
    return {
      generate: async (input) => {
        try {
          return await generateWrapper(input);
        } catch (error) {
          if (!(error instanceof CodegenError)) throw error;
          return { unwrappable: error.kernel, reason: error.reason };
        }
      },
      index: generateIndex,
    };
  },
  render: async () => {
    const { diagnosticToJson, renderDiagnostic } = await import("../../compiler/support/render.ts");
    return {
      text: (diagnostic, color) => renderDiagnostic(diagnostic, { color }),
      json: diagnosticToJson,
    };
  },
  bench: async () => await (await import("../tune/bench.ts")).findBench(),
};
