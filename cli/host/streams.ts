/** The standard streams of this process, written at once and whole. */
import { deno, type Stream } from "./deno.ts";
import { codeOf } from "./errors.ts";
import { nodeProcess } from "./node_process.ts";

/** The two streams of a process. */
export interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
}

/** Those of this one. */
export function standardStreams(): Streams {
  return deno ?? { stdout: streamOf(1), stderr: streamOf(2) };
}

/** Columns of the terminal on stderr; undefined: unknown. */
export function terminalColumns(): number | undefined {
  // Some pseudo-terminals say that they are 0 columns wide.
  return nodeProcess().stderr.columns || undefined;
}

function streamOf(fd: 1 | 2): Stream {
  // Not imported, because Deno would load them too.
  const process = nodeProcess();
  const { writeSync } = process.getBuiltinModule("node:fs");
  const { isatty } = process.getBuiltinModule("node:tty");
  return {
    writeSync: (bytes) => retrying(() => writeSync(fd, bytes)),
    isTerminal: () => isatty(fd),
  };
}

/** How long to wait for a reader before trying again. */
const RETRY_MS = 2;

/** Pipes that another process made non-blocking may be full. */
function retrying(write: () => number): number {
  for (;;) {
    try {
      return write();
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
