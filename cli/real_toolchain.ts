/** The compiler and code generator that ship with tri. */
import type { Toolchain } from "./toolchain.ts";
import { toolIdentity } from "./version.ts";

export const realToolchain: Toolchain = {
  identity: toolIdentity,
  compiler: () => import("../compiler/mod.ts"),
  codegen: async () => {
    const { CodegenError, generateIndex, generateWrapper } = await import("../codegen/mod.ts");
    const { EXIT, Failure } = await import("./failure.ts");
    return {
      generate: async (input) => {
        try {
          return await generateWrapper(input);
        } catch (error) {
          if (!(error instanceof CodegenError)) throw error;
          throw new Failure(EXIT.kernels, `${input.source.name}: ${error.message}`);
        }
      },
      index: async (modules, options) => {
        try {
          return await generateIndex(modules, options);
        } catch (error) {
          if (!(error instanceof CodegenError)) throw error;
          throw new Failure(
            EXIT.kernels,
            error.message,
            "Rename one of them, or build it into another folder with --out.",
          );
        }
      },
    };
  },
  render: async () => {
    const { diagnosticToJson, renderDiagnostic } = await import("../compiler/support/render.ts");
    return {
      text: (diagnostic, color) => renderDiagnostic(diagnostic, { color }),
      json: diagnosticToJson,
    };
  },
  bench: async () => await (await import("./tune_bench.ts")).findBench(),
};
