/**
 * Recursion that takes its frames from the heap: chains in a program may be longer than the engine's stack is deep.
 * A recursive function becomes a generator that yields where it would have called itself.
 *
 *     function* depth(node: Node): OnHeap<number> {
 *       return node.inner === undefined ? 1 : 1 + (yield depth(node.inner));
 *     }
 *     runOnHeap(depth(root));
 */

/** A call that yields the calls that it needs and gets what they return. */
export interface OnHeap<T> extends Generator<OnHeap<T>, T, T> {}

/** Runs a call to its end. */
export function runOnHeap<T>(call: OnHeap<T>): T {
  const callers: OnHeap<T>[] = [];
  let current = call;
  let step = current.next();
  for (;;) {
    if (step.done !== true) {
      callers.push(current);
      current = step.value;
      step = current.next();
      continue;
    }
    const caller = callers.pop();
    if (caller === undefined) return step.value;
    current = caller;
    step = current.next(step.value);
  }
}
