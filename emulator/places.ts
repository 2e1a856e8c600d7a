/** Things in the order of their places, in pieces: adding and removing one moves a piece, not all of them. */

/** The most things in a piece. */
const MOST = 512;

export class PlaceList<T extends { readonly place: number }> {
  readonly #pieces: T[][] = [];

  /** Adds a thing at a place where there is none. */
  add(thing: T): void {
    const at = this.#pieceOf(thing.place);
    const piece = this.#pieces[at];
    if (piece === undefined) {
      this.#pieces.push([thing]);
      return;
    }
    piece.splice(indexAfter(piece, thing.place), 0, thing);
    if (piece.length > MOST) this.#pieces.splice(at + 1, 0, piece.splice(MOST / 2));
  }

  /** Removes the thing at a place. */
  remove(place: number): void {
    const at = this.#pieceOf(place);
    const piece = this.#pieces[at];
    const index = piece === undefined ? -1 : indexAfter(piece, place) - 1;
    if (piece?.[index]?.place !== place) return;
    piece.splice(index, 1);
    if (piece.length === 0) this.#pieces.splice(at, 1);
  }

  /** The last thing whose place is not beyond the given one. */
  before(place: number): T | undefined {
    const piece = this.#pieces[this.#pieceOf(place)];
    return piece?.[indexAfter(piece, place) - 1];
  }

  /** All things in order. */
  all(): T[] {
    return this.#pieces.flat();
  }

  /** The piece that a place belongs to: the last one that does not begin beyond it, or the first. */
  #pieceOf(place: number): number {
    let [low, high] = [0, this.#pieces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pieces[middle]?.[0]?.place ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** The index of the first thing beyond a place. */
function indexAfter(things: readonly { readonly place: number }[], place: number): number {
  let [low, high] = [0, things.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((things[middle]?.place ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}
