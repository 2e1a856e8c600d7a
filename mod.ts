/** The library door of tri; see README. */
export * from "./compiler/mod.ts";
