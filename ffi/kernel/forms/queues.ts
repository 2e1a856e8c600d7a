/** Queues from which blocks of a launch take programs: counters of a module, of which launches that may overlap have different ones. */
import { LaunchError } from "../../errors.ts";
import type { Stream } from "../../stream.ts";

/** As many as a module has (`tri_queues`, compiler/lower/memory/queue.ts). */
const COUNT = 65536;

/**
 * Numbers of a module's queues. Launches on a stream follow each other, as do those of a graph, whose launches do so too. A
 * graph may be launched beside its stream, so what is recorded has a number of its own.
 */
export class Queues {
  readonly #numbers = new WeakMap<object, number>();
  #count = 0;

  /** That of a launch on the stream. */
  of(stream: Pick<Stream, "recording">): number {
    const owner = stream.recording ?? stream;
    const known = this.#numbers.get(owner);
    if (known !== undefined) return known;
    if (this.#count === COUNT) {
      throw new LaunchError(`Cannot launch it on more than ${COUNT} streams and in graphs`, {
        hint: 'reuse streams and graphs, or use `form: "plain"`',
      });
    }
    const number = this.#count++;
    this.#numbers.set(owner, number);
    return number;
  }
}
