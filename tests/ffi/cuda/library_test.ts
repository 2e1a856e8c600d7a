import { openCudaLibrary } from "../../../ffi/cuda/library.ts";
import {
  DriverFailedError,
  DriverNotFoundError,
  DriverTooOldError,
  PermissionError,
} from "../../../ffi/errors.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";

Deno.test("openCudaLibrary() says where it searched", () => {
  const candidates = ["libno-such-cuda.so.1", "/nowhere/libcuda.so.1"];
  const error = assertThrows(
    () => openCudaLibrary(candidates),
    DriverNotFoundError,
    "Cannot find the CUDA driver library (tried libno-such-cuda.so.1, /nowhere/libcuda.so.1)",
  );
  assertEquals(error.searched, candidates);
});

Deno.test({
  name: "openCudaLibrary() names the permission that is missing",
  permissions: { ffi: false },
  fn: () => {
    assertThrows(
      () => openCudaLibrary(["libcuda.so.1", "libcuda.so"]),
      PermissionError,
      "Cannot open the CUDA driver library libcuda.so.1: this program cannot load libraries\n" +
        "hint: run the program with --allow-ffi, ",
    );
  },
});

Deno.test({
  name: "openCudaLibrary() calls a library without CUDA's functions too old",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    // Any library will do; the C library is always there.
    assertThrows(
      () => openCudaLibrary(["libc.so.6"]),
      DriverTooOldError,
      "libc.so.6 is too old: it lacks cu",
    );
  },
});

Deno.test({
  name: "openCudaLibrary() says when the library is there and does not load",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const path = Deno.makeTempFileSync({ suffix: ".so" });
    try {
      Deno.writeTextFileSync(path, "no library");
      const error = assertThrows(
        () => openCudaLibrary(["/nowhere/libcuda.so.1", path]),
        DriverFailedError,
        `The CUDA driver is installed but does not work: ${path} does not load: `,
      );
      assertStringIncludes(error.hint ?? "", "TRI_DEVICE=emulator");
    } finally {
      Deno.removeSync(path);
    }
  },
});
