/** Entries of the gallery as programs, for tests. */
import { type GalleryEntry, INCLUDES } from "../../playground/gallery/entries.ts";
import type { Program } from "../../playground/session/program.ts";
import type { Call } from "../../playground/session/run.ts";
import { INITIAL } from "../../playground/state/state.ts";

const ROOT = new URL("../../", import.meta.url);

/** A file of the repository. */
export const textOf = (file: string): string => Deno.readTextFileSync(new URL(file, ROOT));

/** The program and the launch that the page makes of an entry. */
export function openEntry(
  { file, chosen }: Pick<GalleryEntry, "file" | "chosen">,
): { readonly program: Program; readonly call: Call } {
  const { target, variant, kernel, config, sizes, extent, budget, fills } = {
    ...INITIAL,
    ...chosen,
  };
  const includes = Object.fromEntries(
    Object.entries(INCLUDES).map(([name, file]) => [name, textOf(file)]),
  );
  const program = {
    name: "kernel.tc",
    text: textOf(file),
    includes,
    target,
    variant,
    ...(kernel === undefined ? {} : { kernel }),
    ...(config === undefined ? {} : { config }),
  };
  return { program, call: { sizes, extent, budget, fills, entry: "" } };
}
