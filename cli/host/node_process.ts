/**
 * Node's `process`, for modules that `tri --help` and `--version` need. A module that imports `node:process` has Deno load a good part of
 * its Node layer, whether it is used or not; this global is made when it is first used.
 */
export function nodeProcess(): typeof globalThis.process {
  return globalThis.process;
}
