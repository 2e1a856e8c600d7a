/** Asks the worker, and begins a new one where an answer takes too long or the person does not want it any more. */
import type { Answer, Question, Questions } from "../session/session.ts";

/** The worker stopped before it answered. */
export class Stopped extends Error {}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The page's side of the worker. */
export class Client {
  readonly #script: string;
  #worker: Worker;
  #next = 0;
  readonly #waiting = new Map<number, Waiting>();

  constructor(script: string) {
    this.#script = script;
    this.#worker = this.#start();
  }

  /** The answer to a question. */
  ask<Name extends keyof Questions>(
    name: Name,
    ...args: Parameters<Questions[Name]>
  ): Promise<Awaited<ReturnType<Questions[Name]>>> {
    const id = this.#next++;
    const question: Question = { id, name, args };
    return new Promise((resolve, reject) => {
      // The table of questions gives the type of the answer.
      const take = (value: unknown): void => resolve(value as Awaited<ReturnType<Questions[Name]>>);
      this.#waiting.set(id, { resolve: take, reject });
      this.#worker.postMessage(question);
    });
  }

  /** Ends what runs; those who wait receive {@linkcode Stopped}. */
  stop(): void {
    this.#worker.terminate();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#worker = this.#start();
    for (const { reject } of waiting) reject(new Stopped("stopped"));
  }

  #start(): Worker {
    const worker = new Worker(this.#script, { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("defect" in data) waiting?.reject(new Error(data.defect));
      else waiting?.resolve(data.value);
    });
    return worker;
  }
}
