/** Which image a device runs, and what is said when there is none that it can. */
import { brotliCompressSync } from "node:zlib";
import type { DeviceInfo, Driver } from "../../../../ffi/driver.ts";
import { ImageError, PermissionError } from "../../../../ffi/errors.ts";
import type { ImageFacts, KernelFacts } from "../../../../ffi/kernel/facts/facts.ts";
import { chooseImages, loadImage } from "../../../../ffi/kernel/images/image.ts";
import { readFile } from "../../../../ffi/kernel/images/file.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "../../../support/assert.ts";
import { fakeGpu } from "../support.ts";

/** Images that hold their own name. */
function images(...names: string[]): ImageFacts[] {
  return names.map((name) => {
    const [target = "", kind] = name.split(".");
    return { target, kind: kind === "ptx" ? "ptx" : "cubin", base64: btoa(name) };
  });
}

function chosen(sm: number, ...names: string[]): string[] {
  return chosenOf(["cubin", "ptx"], sm, ...names);
}

function chosenOf(kinds: Driver["imageKinds"], sm: number, ...names: string[]): string[] {
  const info: DeviceInfo = {
    kind: "gpu",
    ordinal: 0,
    name: "",
    arch: `sm_${sm}`,
    sm,
    multiprocessors: 1,
    memoryBytes: 0,
    maxThreadsPerBlock: 1024,
    maxSharedBytes: 0,
    maxGrid: [1, 1, 1],
    driverVersion: 13000,
  };
  return chooseImages(images(...names), info, kinds).map(({ target, kind }) => `${target}.${kind}`);
}

function factsWith(list: readonly ImageFacts[]): KernelFacts {
  return {
    name: "f",
    params: [],
    contract: { grid: [], tensors: [], ranges: [], requires: [] },
    variants: [],
    instances: [],
    images: list,
  };
}

Deno.test("chooseImages() prefers the exact architecture, its own features first", () => {
  assertEquals(chosen(90, "sm_90.ptx", "sm_90.cubin", "sm_90a.cubin", "sm_90a.ptx"), [
    "sm_90a.cubin",
    "sm_90.cubin",
    "sm_90a.ptx",
    "sm_90.ptx",
  ]);
});

Deno.test("chooseImages() takes only kinds that the driver loads", () => {
  assertEquals(chosenOf(["ptx"], 90, "sm_90.cubin", "sm_80.ptx", "sm_90a.ptx", "sm_100.ptx"), [
    "sm_90a.ptx",
    "sm_80.ptx",
  ]);
});

Deno.test("chooseImages() takes cubins of the same major version and a lower minor one", () => {
  assertEquals(chosen(89, "sm_80.cubin", "sm_86.cubin", "sm_90.cubin", "sm_75.cubin"), [
    "sm_86.cubin",
    "sm_80.cubin",
  ]);
  assertEquals(chosen(120, "sm_100.cubin", "sm_120.cubin"), ["sm_120.cubin"]);
  assertEquals(chosen(80, "sm_86.cubin"), []);
});

Deno.test("chooseImages() falls back to the newest PTX that is not newer than the device", () => {
  assertEquals(chosen(100, "sm_70.ptx", "sm_90.ptx", "sm_120.ptx", "sm_90.cubin"), [
    "sm_90.ptx",
    "sm_70.ptx",
  ]);
});

Deno.test("chooseImages() takes code for an `a` target on that architecture alone", () => {
  assertEquals(chosen(100, "sm_90a.ptx", "sm_90a.cubin", "sm_90.ptx"), ["sm_90.ptx"]);
  assertEquals(chosen(90, "compute_90.ptx"), []);
});

Deno.test("loadImage() says what there is and how to build what is missing", () => {
  using gpu = fakeGpu({ arch: "sm_75", sm: 75 });
  const facts = factsWith(images("sm_80.cubin", "sm_90.ptx"));
  const error = assertThrows(() => loadImage(facts, gpu.device), ImageError);
  assertStringIncludes(error.message, "there is none for device 0 (Fake GPU), which is sm_75");
  assertStringIncludes(error.message, "there is sm_80 (cubin), sm_90 (ptx)");
  assertStringIncludes(error.message, "tri build --arch sm_75");
  assertThrows(() => loadImage(factsWith([]), gpu.device), ImageError, "there is no image at all");
});

Deno.test("loadImage() tries the next image when the driver is too old for the best one", () => {
  using gpu = fakeGpu();
  gpu.driver.fail("loadModule", "CUDA_ERROR_NO_BINARY_FOR_GPU");
  const { target, ptx } = loadImage(factsWith(images("sm_90.cubin", "sm_80.ptx")), gpu.device);
  assertEquals([target, ptx], ["sm_80", "sm_80.ptx"]);
  gpu.driver.fail("loadModule", "CUDA_ERROR_NO_BINARY_FOR_GPU");
  assertThrows(
    () => loadImage(factsWith(images("sm_90.cubin")), gpu.device),
    ImageError,
    "NO_BINARY",
  );
});

Deno.test("loadImage() does not replace a corrupt image by another", () => {
  using gpu = fakeGpu();
  gpu.driver.fail("loadModule", "CUDA_ERROR_INVALID_IMAGE");
  const error = assertThrows(
    () => loadImage(factsWith(images("sm_90.cubin", "sm_80.ptx")), gpu.device),
    ImageError,
    "f.sm_90.cubin",
  );
  assertStringIncludes(error.message, "tri build");
});

Deno.test("loadImage() reads the file beside the wrapper, and says when it is missing", () => {
  using gpu = fakeGpu();
  const url = (name: string) => (): URL =>
    new URL(`../../../golden/codegen/transpose/${name}`, import.meta.url);
  const there: ImageFacts = { target: "sm_90", kind: "cubin", url: url("transpose.sm_90.cubin") };
  loadImage(factsWith([there]), gpu.device);
  assertEquals(new TextDecoder().decode(gpu.driver.loaded.get("f.sm_90.cubin")), "cubin sm_90");
  const gone: ImageFacts = { target: "sm_90", kind: "cubin", url: url("gone.cubin") };
  const error = assertThrows(
    () => loadImage(factsWith([gone]), gpu.device),
    ImageError,
    "gone.cubin",
  );
  assertStringIncludes(error.message, "there is no file");
});

Deno.test("readFile() says how to ship an image that a bundler has left out", () => {
  const here = new URL("with space/", import.meta.url);
  // The second lies below a file.
  for (const url of [new URL("gone.ptx", here), new URL(`${import.meta.url}/gone.ptx`)]) {
    const { message } = assertThrows(() => readFile(url), ImageError, "gone.ptx: there is no file");
    assertStringIncludes(message, "or with wrappers built by `tri build --embed`");
    assertStringIncludes(
      message,
      `copy them to ${decodeURI(new URL(".", url).pathname).slice(0, -1)}`,
    );
  }
});

Deno.test("loadImage() says how to bundle where a bundle in CommonJS has no URL of its own", () => {
  using gpu = fakeGpu();
  const meta: { readonly url?: string } = {};
  const image: ImageFacts = {
    target: "sm_90",
    kind: "ptx",
    url: () => new URL("./f.sm_90.ptx", meta.url),
  };
  const { message } = assertThrows(() => loadImage(factsWith([image]), gpu.device), ImageError);
  assertStringIncludes(message, "its wrapper has no import.meta.url");
  assertStringIncludes(message, "--external:PACKAGE");
});

Deno.test("loadImage() decompresses images, of files and of data URLs", () => {
  using gpu = fakeGpu();
  const text = ".version 8.0\n.target sm_90\n".repeat(100);
  const base64 = brotliCompressSync(text).toString("base64");
  const url = (): URL => new URL(`data:application/octet-stream;base64,${base64}`);
  for (const place of [{ base64 }, { url }]) {
    const image: ImageFacts = {
      target: "sm_90",
      kind: "ptx",
      uncompressedBytes: text.length,
      ...place,
    };
    assertEquals(loadImage(factsWith([image]), gpu.device).ptx, text);
  }
});

Deno.test("loadImage() takes a target's part of what all of them are compressed to", () => {
  using gpu = fakeGpu();
  const texts = ["sm_80", "sm_90"].map((target) => `.version 8.0\n.target ${target}\n`);
  const [older = "", own = ""] = texts;
  const image: ImageFacts = {
    target: "sm_90",
    kind: "ptx",
    uncompressedBytes: own.length,
    part: { offset: older.length, total: older.length + own.length },
    base64: brotliCompressSync(texts.join("")).toString("base64"),
  };
  assertEquals(loadImage(factsWith([image]), gpu.device).ptx, own);
});

Deno.test("loadImage() says that a compressed image is damaged", () => {
  using gpu = fakeGpu();
  const text = "text ".repeat(100);
  const sound = brotliCompressSync(text);
  for (const bytes of [sound.subarray(0, 4), new Uint8Array(50).fill(255), new Uint8Array()]) {
    const image: ImageFacts = {
      target: "sm_90",
      kind: "ptx",
      uncompressedBytes: text.length,
      base64: btoa(String.fromCharCode(...bytes)),
    };
    const { message } = assertThrows(() => loadImage(factsWith([image]), gpu.device), ImageError);
    assertStringIncludes(message, "f.sm_90.ptx: it does not decompress");
  }
});

Deno.test("readFile() refuses what is no file, and names the remedy", () => {
  const error = assertThrows(
    () => readFile(new URL("https://example.com/a/f.cubin")),
    ImageError,
    "f.cubin",
  );
  assertStringIncludes(error.message, "--embed");
});

Deno.test({
  name: "readFile() says which permission is missing",
  permissions: { read: false },
  fn: () => {
    const error = assertThrows(
      () => readFile(new URL("file:///some/where/f.cubin")),
      PermissionError,
    );
    assertStringIncludes(error.message, "--allow-read=/some/where");
  },
});

Deno.test("loadImage() refuses an image that has another size than that of the wrapper's build", () => {
  using gpu = fakeGpu();
  const [image] = images("sm_90.cubin");
  assert(image !== undefined);
  const size = "sm_90.cubin".length;
  assertEquals(loadImage(factsWith([{ ...image, bytes: size }]), gpu.device).target, "sm_90");
  const error = assertThrows(
    () => loadImage(factsWith([{ ...image, bytes: size + 1 }]), gpu.device),
    ImageError,
  );
  assertStringIncludes(
    error.message,
    `Cannot use kernel image f.sm_90.cubin: it has ${size} bytes, and that of the wrapper's build had ${
      size + 1
    }`,
  );
});
