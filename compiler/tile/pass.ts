/** What a pass over tile IR is. */
import type { Func } from "../ir/func.ts";

export interface Pass {
  /** The word that dumps and messages use. */
  readonly name: string;
  /** Edits the function; true if it changed anything. */
  run(func: Func): boolean;
}
