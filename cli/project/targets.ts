/** `--arch`: from the user's words to targets. */
import { type TargetName, TARGETS } from "../../compiler/targets.ts";
import { nearest } from "../../compiler/support/spelling.ts";
import { environmentError, usageError } from "../failure.ts";

const ALL = Object.keys(TARGETS).filter(isTarget);

/** The targets a list names, in the order of the target table, without repeats. */
export async function selectTargets(words: readonly string[]): Promise<TargetName[]> {
  const wanted = new Set<TargetName>();
  for (const word of words.flatMap((list) => list.split(",")).map((part) => part.trim())) {
    if (word === "all") ALL.forEach((name) => wanted.add(name));
    else if (word === "native") (await nativeTargets()).forEach((name) => wanted.add(name));
    else if (isTarget(word)) wanted.add(word);
    else {
      const near = nearest(word, [...ALL, "all", "native"]);
      throw usageError(
        `Unknown architecture: ${word}`,
        `${near === undefined ? "" : `Did you mean ${near}? `}Known: ${
          ALL.join(", ")
        }, all, native.`,
      );
    }
  }
  return ALL.filter((name) => wanted.has(name));
}

function isTarget(word: string): word is TargetName {
  return Object.hasOwn(TARGETS, word);
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
  return gpus.devices.flatMap(({ sm }) => targetsFor(sm));
}

/** The newest targets that a GPU runs; exact ones last. */
function targetsFor(sm: number): TargetName[] {
  const runnable = ALL.filter((name) =>
    TARGETS[name].sm === sm || (!TARGETS[name].exact && TARGETS[name].sm < sm)
  );
  const newest = Math.max(...runnable.map((name) => TARGETS[name].sm));
  return runnable.filter((name) => TARGETS[name].sm === newest)
    .toSorted((a, b) => Number(TARGETS[a].exact) - Number(TARGETS[b].exact));
}

/** The target whose image a wrapper would load on a GPU; undefined: the GPU is too old. */
export function targetOf(sm: number): TargetName | undefined {
  return targetsFor(sm).at(-1);
}
