/** The worker: compiler and emulator, which answer one question after the other. */
import { answer, type Question } from "./session/session.ts";

/** The global object of a worker, as far as this needs it. */
interface Scope {
  addEventListener(type: "message", handler: (event: { readonly data: Question }) => void): void;
  postMessage(message: unknown): void;
}

const scope: Scope = globalThis;
/** Questions are answered in the order in which they came, also while a part is being loaded. */
let last = Promise.resolve();
scope.addEventListener("message", ({ data }) => {
  last = last.then(async () => scope.postMessage(await answer(data)));
});
