import { ArgumentError, CudaError, DisposedError, REMEDIES, TriError } from "../../ffi/errors.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";

Deno.test("CudaError says the call, the driver's name, number and sentence, and the remedy", () => {
  const error = new CudaError({
    name: "CUDA_ERROR_NO_BINARY_FOR_GPU",
    code: 209,
    description: "no kernel image is available for execution on the device",
    call: "cuModuleLoadDataEx",
    about: "transpose.sm_90.cubin",
  });
  assertEquals(
    error.message,
    "cuModuleLoadDataEx (transpose.sm_90.cubin) failed with CUDA_ERROR_NO_BINARY_FOR_GPU (209): " +
      "no kernel image is available for execution on the device\n" +
      "hint: build the kernels for this GPU's architecture (`tri doctor` shows it)",
  );
  assert(error instanceof TriError);
  assertEquals(error.name, "CudaError");
});

Deno.test("CudaError has no hint for an error without a remedy", () => {
  const error = new CudaError({
    name: "CUDA_ERROR_LOSSY_QUERY",
    code: 402,
    description: "lossy",
    call: "cuX",
  });
  assertEquals(error.message, "cuX failed with CUDA_ERROR_LOSSY_QUERY (402): lossy");
  assertEquals(error.hint, undefined);
});

Deno.test("REMEDIES are keyed by CUDA's names and say something", () => {
  for (const [name, remedy] of Object.entries(REMEDIES)) {
    assertMatch(name, /^CUDA_ERROR_[A-Z_]+$/);
    assert(remedy.length > 20, name);
  }
});

Deno.test("ArgumentError keeps argument, expected and actual", () => {
  const error = new ArgumentError({ argument: "x", expected: "float32", actual: "float16" });
  assertEquals(error.message, "Argument x: expected float32, got float16");
  assertEquals([error.argument, error.expected, error.actual], ["x", "float32", "float16"]);
});

Deno.test("DisposedError names the object", () => {
  assertStringIncludes(
    new DisposedError("Tensor float32[2, 3]").message,
    "Tensor float32[2, 3] was disposed",
  );
});
