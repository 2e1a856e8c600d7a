/** `tri inspect --time`: how long the steps of compiling take. */
import { sumOf } from "@std/collections/sum-of";
import type { StepTime } from "../../compiler/options.ts";
import { groupBy } from "../../compiler/support/group_by.ts";
import { printTable } from "./table.ts";

/** A table of all steps of all entries, and one of the sums where there are several entries. */
export function printTimes(times: readonly StepTime[]): string {
  const all = totalOf(times);
  const entries = printTable({
    columns: ["entry", "arch", "step", "ms"],
    words: 3,
    rows: times.map(({ entry, target = "all", step, milliseconds }) => [
      entry,
      target,
      step,
      spell(milliseconds),
    ]),
  });
  const steps = groupBy(times, ({ step }) => step);
  const sums = printTable({
    columns: ["step", "runs", "ms", "share"],
    words: 1,
    rows: [...steps, ["all", times] as const].map(([step, own]) => [
      step,
      String(step === "all" ? "" : own.length),
      spell(totalOf(own)),
      `${Math.round(100 * totalOf(own) / (all || 1))} %`,
    ]),
  });
  return `${entries}\n${sums}`;
}

const totalOf = (times: readonly StepTime[]): number =>
  sumOf(times, ({ milliseconds }) => milliseconds);

const spell = (milliseconds: number): string => milliseconds.toFixed(2);
