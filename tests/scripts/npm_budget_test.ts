/** What @tri/kernels will weigh, from what build-kernels wrote: `deno task pack`, which takes minutes, enforces the budget itself. */
import { brotliCompressSync, constants } from "node:zlib";
import { codeIdentity, ownCubins, ownPtx } from "../../cli/build/compact.ts";
import { KERNELS_BUDGET } from "../../scripts/npm/kernels.ts";
import { assert } from "../support/assert.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

const GENERATED = new URL("../../generated/", import.meta.url);

/** Of the size at quality 5, which takes a fortieth of the time: 0.60 for matmul, 0.65 for layer_norm. */
const BEST_QUALITY = 0.63;
/** A compressed cubin, by its compressed PTX, so that the sum is what `deno task pack` made of 1a661b23: 9.76 MB. */
const CUBIN_BY_PTX = 1.1;
/** Wrappers, declarations, manifest and sources. */
const OTHER_BYTES = 0.2e6;

test("the images of @tri/kernels keep to its budget", () => {
  const manifest: {
    readonly sources: Readonly<
      Record<string, Readonly<Record<string, { readonly images: Image[] }>>>
    >;
  } = JSON.parse(Deno.readTextFileSync(new URL("manifest.json", GENERATED)));
  const sizes = Object.values(manifest.sources).flatMap((kernels) =>
    Object.values(kernels).flatMap(({ images }) => imageSizes(images))
  );
  const total = sizes.reduce((sum, size) => sum + size, OTHER_BYTES);
  assert(total <= KERNELS_BUDGET, `${Math.ceil(total)} bytes, of ${KERNELS_BUDGET}`);
  assert(sizes.length > 50, `${sizes.length} images`);
});

interface Image {
  readonly target: string;
  readonly kind: "ptx" | "cubin";
  readonly path: string;
  readonly entries: Parameters<typeof codeIdentity>[1];
}

function imageSizes(images: readonly Image[]): number[] {
  const modules = images.filter(({ kind }) => kind === "ptx").map(({ target, path, entries }) => {
    const text = Deno.readTextFileSync(new URL(path, GENERATED));
    return { arch: target, code: codeIdentity(text, entries), ptx: { bytes: text.length }, text };
  });
  const compressed = (text: string): number =>
    BEST_QUALITY * brotliCompressSync(text, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      },
    }).length;
  return [
    // One file.
    compressed(ownPtx(modules).map(({ text }) => text).join("")),
    ...ownCubins(modules).map(({ text }) => CUBIN_BY_PTX * compressed(text)),
  ];
}
