/** The shipped kernels, as the compiler reads them. */
import type { SourceFile } from "../../compiler/mod.ts";

const KERNELS = new URL("../../kernels/", import.meta.url);

/** A file of kernels/; as the option `include`, it finds what they include. */
export function shipped(name: string): SourceFile {
  return { name, text: Deno.readTextFileSync(new URL(name, KERNELS)) };
}

/** A text with the pragmas in place of the names of their files, so that one text is all there is. */
export function withPragmas(text: string): string {
  return text.replaceAll(
    /^#pragma tri include "(.*)"\n/gm,
    (_, name: string) => shipped(name).text,
  );
}
