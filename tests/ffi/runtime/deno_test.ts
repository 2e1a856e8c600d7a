import { runtime } from "../../../ffi/runtime/deno.ts";
import { assertEquals } from "../../support/assert.ts";

const LIBRARIES = ["libcuda.so.1", "libcuda.so", "/usr/lib64/libcuda.so.1"];

Deno.test("runtime.readVariable() reads what is set and not empty", () => {
  const name = "TRI_TEST_VARIABLE";
  assertEquals(runtime.readVariable(name), undefined);
  Deno.env.set(name, "value");
  assertEquals(runtime.readVariable(name), "value");
  Deno.env.set(name, "");
  assertEquals(runtime.readVariable(name), undefined);
  Deno.env.delete(name);
});

Deno.test({
  name: "runtime.readVariable() reads nothing without permission",
  permissions: { env: false },
  fn: () => assertEquals(runtime.readVariable("PATH"), undefined),
});

Deno.test({
  name: "runtime.allowedLibraries() is empty without permission, and asks nobody",
  permissions: { ffi: false },
  fn: () => assertEquals(runtime.allowedLibraries(LIBRARIES).paths, []),
});

Deno.test({
  name: "runtime.allowedLibraries() has a full path that is permitted",
  permissions: { ffi: ["/usr/lib64/libcuda.so.1"] },
  fn: () => assertEquals(runtime.allowedLibraries(LIBRARIES).paths, ["/usr/lib64/libcuda.so.1"]),
});

Deno.test({
  name:
    "runtime.allowedLibraries() has no permitted bare name, for Deno looks for it beside the program only",
  permissions: { ffi: ["libcuda.so.1"] },
  fn: () => assertEquals(runtime.allowedLibraries(LIBRARIES).paths, []),
});

Deno.test({
  name: "runtime.allowedLibraries() has all where every library is permitted",
  permissions: { ffi: true },
  fn: () => assertEquals(runtime.allowedLibraries(LIBRARIES).paths, LIBRARIES),
});
