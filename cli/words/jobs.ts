/** `--jobs`. */
import { availableParallelism } from "node:os";
import { usageError } from "../failure.ts";

/** How many assemblers run at once: what the user says, or one per core. */
export function jobCount(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw usageError(`--jobs ${text}: not a number of jobs`, "Take a whole number from 1 to 9999.");
  }
  return Number(text);
}
