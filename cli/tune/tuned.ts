/** What a build makes of timings: which configurations it compiles, and the table that wrappers choose by. */
import { distinctBy } from "@std/collections/distinct-by";
import type { Measured } from "../../codegen/mod.ts";
import type { ConfigurationChoice, Configurations } from "../../compiler/options.ts";
import { sha256 } from "../files/hash.ts";
import type { Probes } from "../project/include.ts";
import { relativePath } from "../files/paths.ts";
import { readTextIfThere } from "../project/project.ts";
import { fastestFirst, parseKey, type TuneFile } from "../../ffi/kernel/tuning/tune_file.ts";
import { readTuneFile, tunePathOf } from "./file.ts";

/** What a source is compiled with beside its options. */
export interface Tuning {
  /** Undefined: the first of each variant. */
  readonly configurations: Configurations | undefined;
  readonly measured: readonly Measured[];
}

/** Reads the timings beside a source and decides; `which` is the value of `--configs`. */
export function tuningOf(sourcePath: string, which: string): Tuning {
  if (which === "first") return { configurations: undefined, measured: [] };
  const measured = measuredIn(readTuneFile(tunePathOf(sourcePath)));
  if (which === "all") return { configurations: "all", measured };
  const also = choicesIn(measured);
  return { configurations: also.length === 0 ? undefined : { also }, measured };
}

/** Where timings of a source are looked for: what `--watch` watches. */
export function tuneProbe(root: string, sourcePath: string): Probes {
  const path = tunePathOf(sourcePath);
  const text = readTextIfThere(path);
  return { [relativePath(root, path)]: text === undefined ? null : sha256(text) };
}

/** All timings of a file as tables of the fastest. */
function measuredIn({ gpus }: TuneFile): readonly Measured[] {
  const sorted = <T>(tree: Readonly<Record<string, T>>): [string, T][] =>
    Object.entries(tree).sort(([a], [b]) => a < b ? -1 : 1);
  return sorted(gpus).flatMap(([gpu, { arch, kernels }]) =>
    sorted(kernels).flatMap(([kernel, variants]) =>
      sorted(variants).flatMap(([variant, specializations]) =>
        sorted(specializations).map(([specialization, keys]): Measured => ({
          kernel,
          variant,
          specialization,
          gpu,
          arch,
          points: sorted(keys).flatMap(([key, timings]) => {
            const order = fastestFirst(timings);
            return order.length === 0 ? [] : [{ at: parseKey(key), timings: order }];
          }),
        }))
      )
    )
  ).filter(({ points }) => points.length > 0);
}

/** Every ranking that the compiler has to find a winner of. */
function choicesIn(measured: readonly Measured[]): readonly ConfigurationChoice[] {
  const choices = measured.flatMap(({ kernel, variant, specialization, points }) =>
    points.map(({ timings }): ConfigurationChoice => {
      const configs = timings.map(({ config }) => config);
      return { kernel, variant, specialization, configs };
    })
  );
  return distinctBy(choices, (choice) => JSON.stringify(choice));
}
