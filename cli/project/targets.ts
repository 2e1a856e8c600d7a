/** `--arch`: from the user's words to targets. */
import { ALL_TARGETS, type TargetName, TARGETS } from "../../compiler/targets.ts";
import { didYouMean } from "../words/did_you_mean.ts";
import { environmentError, usageError } from "../failure.ts";

/** Sorted by capability, as TARGETS is. */
const NAMES = Object.keys(ALL_TARGETS).filter(isTarget)
  .toSorted((a, b) =>
    ALL_TARGETS[a].sm - ALL_TARGETS[b].sm ||
    Number(ALL_TARGETS[a].exact) - Number(ALL_TARGETS[b].exact)
  );

/** What `all` means. */
const SHIPPED = Object.keys(TARGETS).filter(isTarget);

/** The targets a list names, in the order of the target table, without repeats. */
export async function selectTargets(words: readonly string[]): Promise<TargetName[]> {
  const wanted = new Set<TargetName>();
  for (const word of words.flatMap((list) => list.split(",")).map((part) => part.trim())) {
    if (word === "all") SHIPPED.forEach((name) => wanted.add(name));
    else if (word === "native") (await nativeTargets()).forEach((name) => wanted.add(name));
    else if (isTarget(word)) wanted.add(word);
    else {
      const known = [...NAMES, "all", "native"];
      if (word === "") {
        throw usageError(
          `--arch ${words.join(",")}: a name is missing`,
          "Names have one comma between them, as in --arch sm_80,sm_90.",
        );
      }
      const hints = [didYouMean(word, known) ?? [], `Known: ${known.join(", ")}.`].flat();
      throw usageError(`Unknown architecture: ${word}`, hints.join(" "));
    }
  }
  return NAMES.filter((name) => wanted.has(name));
}

function isTarget(word: string): word is TargetName {
  return Object.hasOwn(ALL_TARGETS, word);
}

/** The targets made for the GPUs of this machine: the exact ones, else the newest that each can run. */
async function nativeTargets(): Promise<TargetName[]> {
  const { findGpus } = await import("../tools/gpus.ts");
  const gpus = await findGpus();
  if (gpus.kind === "none") {
    throw environmentError(
      `--arch native: ${gpus.reason}`,
      `${gpus.remedy} Or name the architecture: --arch sm_90.`,
    );
  }
  return gpus.devices.flatMap(({ sm }) => newestFor(sm, NAMES));
}

/** The newest of some targets that a GPU runs; exact ones last. */
function newestFor(sm: number, names: readonly TargetName[]): TargetName[] {
  const runnable = names.filter((name) =>
    ALL_TARGETS[name].sm === sm || (!ALL_TARGETS[name].exact && ALL_TARGETS[name].sm < sm)
  );
  const newest = Math.max(...runnable.map((name) => ALL_TARGETS[name].sm));
  return runnable.filter((name) => ALL_TARGETS[name].sm === newest);
}

/** The target of `all` whose image a wrapper would load on a GPU; undefined: the GPU is too old. */
export function targetOf(sm: number): TargetName | undefined {
  return newestFor(sm, SHIPPED).at(-1);
}
