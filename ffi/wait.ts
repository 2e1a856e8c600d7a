/** Waiting for the device without blocking the event loop. */

/** Short work is over sooner than a timer could fire, so it is waited for in place. */
const SPIN_MILLISECONDS = 0.1;

/** Resolves when `done` says so. The driver has no callback that JavaScript could take on any thread, so it is asked again and again. */
export async function untilDone(done: () => boolean): Promise<void> {
  const spinEnd = performance.now() + SPIN_MILLISECONDS;
  while (!done()) {
    if (performance.now() > spinEnd) await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
