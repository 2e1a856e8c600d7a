import {
  camelCase,
  constantCase,
  pascalCase,
  RESERVED_NAMES,
  safeIdentifier,
  styledNames,
} from "../../codegen/names.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("camelCase() lowers the first word and joins the rest", () => {
  const names = [
    "X",
    "x",
    "LDX",
    "ldx",
    "A_ptr",
    "layer_norm",
    "strideXm",
    "__p",
    "_",
    "N1",
    "W_Q",
  ];
  assertEquals(names.map(camelCase), [
    "x",
    "x",
    "ldx",
    "ldx",
    "aPtr",
    "layerNorm",
    "strideXm",
    "p",
    "_",
    "n1",
    "wQ",
  ]);
});

Deno.test("pascalCase() and constantCase() name types and constants", () => {
  assertEquals(["transpose", "layer_norm", "f", "_"].map(pascalCase), [
    "Transpose",
    "LayerNorm",
    "F",
    "Kernel_",
  ]);
  assertEquals(["transpose", "layerNorm", "layer_norm"].map(constantCase), [
    "TRANSPOSE",
    "LAYER_NORM",
    "LAYER_NORM",
  ]);
});

Deno.test("styledNames() distinguishes names whose styled forms are equal", () => {
  assertEquals([...styledNames(["X", "x", "y"], camelCase)], [["X", "X"], ["x", "x"], ["y", "y"]]);
  assertEquals([...styledNames(["out", "Stream"], camelCase, new Set(["out", "stream"]))], [
    ["out", "out_"],
    ["Stream", "stream_"],
  ]);
  assertEquals(styledNames(["delete"], camelCase, RESERVED_NAMES).get("delete"), "delete_");
});

Deno.test("safeIdentifier() changes only words that cannot name a variable", () => {
  assertEquals(["in", "cdiv", "M", "await"].map(safeIdentifier), ["in_", "cdiv_", "M", "await_"]);
});
