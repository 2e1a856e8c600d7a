/** `--size M=512,N=300`: values of parameters, by name. */
import type { CompiledKernel } from "../../compiler/options.ts";
import { didYouMean } from "./did_you_mean.ts";
import { usageError } from "../failure.ts";
import type { Sizes } from "../report/arguments.ts";

/** The parameters of kernels that are numbers. */
export function numberParams(kernels: readonly Pick<CompiledKernel, "instances">[]): Set<string> {
  return new Set(
    kernels.flatMap(({ instances }) =>
      instances.flatMap(({ contract }) =>
        contract.params.flatMap(({ kind, name }) => kind === "scalar" ? [name] : [])
      )
    ),
  );
}

/** Reads the texts as one set of values; each name must be a known parameter. */
export function readSizes(texts: readonly string[], known: ReadonlySet<string>): Sizes {
  return new Map(
    texts.flatMap((text) => text.split(",")).map((text): [string, number] => {
      const [, name = "", number = ""] = /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(text) ?? [];
      const value = Number(number);
      if (name === "" || number === "" || !Number.isFinite(value)) {
        throw usageError(`--size ${text}: not a name and a number`, "Such as --size M=512,N=300.");
      }
      if (!known.has(name)) {
        throw usageError(
          `--size ${text}: no kernel here has a parameter ${name} that is a number`,
          didYouMean(name, [...known]) ?? `There is ${[...known].join(", ") || "none"}.`,
        );
      }
      return [name, value];
    }),
  );
}
