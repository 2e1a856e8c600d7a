/** Names of entries in tests of shipped kernels: tuning decides in which configuration an instance is launched. */
import { assert } from "../assert.ts";

/** What the name of a configuration's entry ends in, such as `_TM64_TN64_num_warps8`, and that of a form of it. */
const CONFIGURATION = /^(?:_(?:[A-Z]+|num_warps|num_stages|max_registers)\d+)*(?:_tensor)?$/;

/** The entry is the instance that is expected, in any configuration and form. */
export function assertInstance(entry: string | undefined, instance: string): void {
  assert(
    entry?.startsWith(instance) === true && CONFIGURATION.test(entry.slice(instance.length)),
    `${entry} is no configuration of ${instance}`,
  );
}
