/** Names of entries in tests of shipped kernels: tuning decides in which configuration an instance is launched. */
import { readFormName } from "../../../compiler/driver/entry_names.ts";
import { assert } from "../assert.ts";

/** What the name of a configuration's entry ends in, such as `_TM64_TN64_num_warps8`. */
const CONFIGURATION = /^(?:_(?:[A-Z]+|num_warps|num_stages|max_registers)\d+)*$/;

/** The entry is the instance that is expected, in any configuration and form. */
export function assertInstance(symbol: string | undefined, instance: string): void {
  const { entry } = readFormName(symbol ?? "");
  assert(
    entry.startsWith(instance) && CONFIGURATION.test(entry.slice(instance.length)),
    `${symbol} is no configuration of ${instance}`,
  );
}
