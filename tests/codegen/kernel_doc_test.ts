import { readKernelDoc } from "../../codegen/kernel_doc.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("readKernelDoc() separates what is said of parameters from the rest", () => {
  const { text, params } = readKernelDoc(
    "Adds.\n\nMore.\n@param X what is\n  added\n@param N - how many\n\nAfter.\n@returns nothing\n@param",
  );
  assertEquals(text, "Adds.\n\nMore.\n\nAfter.\n@returns nothing\n@param");
  assertEquals([...params], [["X", "what is added"], ["N", "how many"]]);
});

Deno.test("readKernelDoc() leaves a comment without tags as it is", () => {
  assertEquals(readKernelDoc("Adds.\n  code\nmore."), {
    text: "Adds.\n  code\nmore.",
    params: new Map(),
  });
});
