/** Loads that repeat: one for each address of memory that no program writes, and one each where a program may write. */
import { int } from "../../../support/emulate.ts";
import { assertEquals } from "../../../support/assert.ts";
import { CompiledText } from "../../../support/compiler/value_run.ts";
import { freshRandom } from "../../../support/random.ts";

/** Four pixels of a line, each the sum of three: a thread has two vectors of all four, so it needs six pixels of both. */
const textOf = (attribute: string): string =>
  `#pragma tri grid(1)
#pragma tri num_warps=1
__global__ void sums(half *X __aligned(16) ${attribute}, float *Y __aligned(16), int W, int first) {
  int p[4] = 0 ... 4;
  int c[256] = 0 ... 256;
  float sum[4, 256] = 0;
#pragma unroll
  for (int s = 0; s < 3; s += 1) {
    int at[4] = first + (p + s);
    half x[4, 256] = *?((at >= 0 && at < W)[:, newaxis]) (X + (at * 256)[:, newaxis] + c[newaxis, :]);
    sum += (float[4, 256])x;
  }
  *(Y + (p * 256)[:, newaxis] + c[newaxis, :]) = sum;
}`;

const loadsIn = (ptx: string): number => ptx.match(/ld\.global[\w.:]*\.v2/g)?.length ?? 0;

Deno.test("loads that are shifted by a pixel load each pixel once, and add up the right ones", () => {
  const { below } = freshRandom();
  for (const compiled of CompiledText.forAll(textOf("__readonly"))) {
    assertEquals(loadsIn(compiled.ptx), 12, compiled.ptx);
    for (const width of [4, 3, 1, 0]) {
      const x = Array.from({ length: 4 * 256 }, () => below(9) - 4);
      const at = (pixel: number, channel: number): number =>
        pixel < 0 || pixel >= width ? 0 : x[pixel * 256 + channel] ?? NaN;
      const wanted = x.map((_, i) => {
        const [pixel, channel] = [Math.floor(i / 256), i % 256];
        return at(pixel - 1, channel) + at(pixel, channel) + at(pixel + 1, channel);
      });
      const [, found] = compiled.run([
        { type: "float16", values: x },
        { type: "float32", values: new Array<number>(4 * 256).fill(NaN) },
        int(width),
        int(-1),
      ]);
      assertEquals(found, wanted);
    }
  }
});

Deno.test("without a promise that nothing writes them they are loaded again", () => {
  assertEquals(loadsIn(new CompiledText(textOf(""), "sm_80").ptx), 24);
});

Deno.test("what a branch loads is not taken behind it", () => {
  const text = `#pragma tri grid(1)
__global__ void either(int *X __readonly, int *Y, int n) {
  int r[128] = 0 ... 128;
  int x[128] = 0;
  if (n > 0) x = *(X + r);
  *(Y + r) = x + *(X + r);
}`;
  for (const compiled of CompiledText.forAll(text)) {
    const values = Array.from({ length: 128 }, (_, i) => BigInt(i * 3 - 7));
    for (const n of [0, 1]) {
      const y = { type: "int32" as const, values: new Array<number>(128).fill(-1) };
      const [, found] = compiled.run([{ type: "int32", values }, y, int(n)]);
      assertEquals(found, values.map((value) => n > 0 ? 2n * value : value));
    }
  }
});
