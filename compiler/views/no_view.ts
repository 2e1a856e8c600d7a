/** Why a load has no view; a clause after "no view: ". */
export class NoView extends Error {
  override readonly name = "NoView";
}

/** Gives up, and says why. */
export function noView(why: string): never {
  throw new NoView(why);
}
