/** fast-check, whose `assert` tries the cases of a sample. */
export * from "fast-check";
export { assert } from "./assert_property.ts";
