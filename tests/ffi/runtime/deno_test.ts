import { runtime } from "../../../ffi/runtime/deno.ts";
import { assert, assertEquals } from "../../support/assert.ts";

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
  name: "runtime.allowedLibraries() is empty without permission, and does not prompt",
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

Deno.test({
  name:
    "runtime.openLibrary() binds the functions asked for; optional ones that are missing are null",
  permissions: { ffi: true },
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const functions = {
      abs: { parameters: ["i32"], result: "i32" },
      no_such_function: { parameters: [], result: "i32", optional: true },
    } as const;
    const opened = runtime.openLibrary("libc.so.6", functions);
    assert(opened.kind === "open");
    const { symbols } = opened.library;
    assertEquals([symbols.abs(-5), symbols.no_such_function], [5, null]);
    opened.library.close();
  },
});
