/** The compiler and code generator that ship with tri. */
import type { Toolchain, Unwrappable } from "./toolchain.ts";

export const realToolchain: Toolchain = {
  identity: async () => (await import("../identity.ts")).toolIdentity(),
  compiler: () => import("../../compiler/mod.ts"),
  codegen: async () => {
    const { checkWrappable, CodegenError, generateIndex, generateWrapper } = await import(
      "../../codegen/mod.ts"
    );
    const unwrappable = (error: unknown): Unwrappable => {
      if (!(error instanceof CodegenError)) throw error;
      return { unwrappable: error.kernel, reason: error.reason };
    };
    return {
      check: (kernels, exports) => {
        try {
          checkWrappable(kernels, exports);
          return undefined;
        } catch (error) {
          return unwrappable(error);
        }
      },
      generate: async (input) => {
        try {
          return await generateWrapper(input);
        } catch (error) {
          return unwrappable(error);
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
