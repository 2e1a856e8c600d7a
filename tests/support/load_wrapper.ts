/** Wrappers of compiled kernels as a program has them: generated, written to a file and imported. */
import { generateWrapper } from "../../codegen/mod.ts";
import type { CompiledKernel } from "../../compiler/options.ts";
import { must } from "../../compiler/support/bug.ts";

const RUNTIME = new URL("../../ffi/mod.ts", import.meta.url).href;

/** The text of the wrapper of one kernel, which holds its PTX. */
async function wrapperText(kernel: CompiledKernel): Promise<string> {
  const { name, modules } = kernel;
  const { modules: texts } = await generateWrapper({
    source: { name: `${name}.tc`, text: "" },
    generator: "0.0.0",
    stem: name,
    kernels: [kernel],
    embed: true,
    runtime: RUNTIME,
    images: modules.map(({ target, ptx }) => ({
      kernel: name,
      target,
      kind: "ptx",
      path: `${name}.${target}.ptx`,
      bytes: ptx.length,
      sha256: "0".repeat(64),
      content: () => new TextEncoder().encode(ptx),
    })),
  });
  return must(texts.get(".ts"), "TypeScript of the wrapper");
}

/** What the wrapper exports; the caller states its type. */
export async function loadWrapper<Module>(kernel: CompiledKernel): Promise<Module> {
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(path, await wrapperText(kernel));
    return await import(`file://${path}`);
  } finally {
    await Deno.remove(path);
  }
}
