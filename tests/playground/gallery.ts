/** Entries of the gallery as programs, for tests. */
import { type GalleryEntry, INCLUDES } from "../../playground/gallery/entries.ts";
import type { Program } from "../../playground/session/program.ts";
import type { Call } from "../../playground/session/run.ts";
import { INITIAL } from "../../playground/state/state.ts";
import { halfOf } from "../support/sampled.ts";

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

/** A test of each entry, of which a run takes half. */
export function testEntries(
  entries: readonly GalleryEntry[],
  titleOf: (name: string) => string,
  test: (entry: GalleryEntry) => void,
): void {
  const chosen = halfOf(entries, entries.length);
  for (const entry of entries) {
    const isChosen = chosen.includes(entry);
    Deno.test({
      name: titleOf(entry.name) + (isChosen ? "" : " [skipped: a run tries half of the entries]"),
      ignore: !isChosen,
      fn: () => test(entry),
    });
  }
}
