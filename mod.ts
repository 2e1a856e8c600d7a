/** What programs import: the run time. `@tri/tri/compiler` has the compiler. */
export * from "./ffi/mod.ts";
