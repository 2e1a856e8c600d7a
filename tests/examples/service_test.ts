/** The search service: matches equal those of double precision, requests share batches, wrong requests are answered. */
import { Device } from "../../ffi/mod.ts";
import { Batcher } from "../../examples/service/batcher.ts";
import { handle } from "../../examples/service/handler.ts";
import { nodeServer } from "../../examples/service/node.ts";
import { Search } from "../../examples/service/search.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { freshRandom } from "../support/random.ts";

const [ENTRIES, DIMENSIONS] = [301, 19];

function randomVectors(count: number): Float32Array<ArrayBuffer> {
  const random = freshRandom();
  return Float32Array.from({ length: count * DIMENSIONS }, () => 2 * random.unit() - 1);
}

const rowOf = (vectors: Float32Array, i: number): Float32Array =>
  vectors.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS);
const product = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, x, i) => sum + x * must(b[i], "number"), 0);

const post = (body: string): Request =>
  new Request("http://localhost/find", { method: "POST", body });

Deno.test("the service finds the entry with the largest product, many requests at a time", async () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  const vectors = randomVectors(ENTRIES);
  using search = new Search(device, vectors, DIMENSIONS);
  const queries = randomVectors(70);
  const answers = await Promise.all(Array.from({ length: 70 }, async (_, i) => {
    const response = await handle(search, post(JSON.stringify([...rowOf(queries, i)])));
    assertEquals(response.status, 200);
    const { entry, score } = await response.json();
    return { entry: Number(entry), score: Number(score) };
  }));
  answers.forEach(({ entry, score }, i) => {
    const scores = Array.from(
      { length: ENTRIES },
      (_, n) => product(rowOf(vectors, n), rowOf(queries, i)),
    );
    // Two entries may be closer to each other than rounding is.
    const bound = DIMENSIONS * 2 ** -22 * DIMENSIONS;
    assert(Math.abs(score - must(scores[entry], "score")) <= bound, `query ${i}: score ${score}`);
    assert(Math.abs(score - Math.max(...scores)) <= bound, `query ${i}: entry ${entry}`);
  });
});

Deno.test("the service answers wrong requests with what is wrong", async () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  using search = new Search(device, randomVectors(2), DIMENSIONS);
  for (
    const body of [
      "",
      "{}",
      "[1, 2]",
      `[${Array(DIMENSIONS).fill('"1"')}]`,
      `[${Array(DIMENSIONS).fill("1e99")}]`,
    ]
  ) {
    const response = await handle(search, post(body));
    assertEquals(response.status, 400, body);
    assertEquals(await response.json(), {
      error: "the body must be a JSON list of 19 finite numbers",
    });
  }
  assertEquals((await handle(search, new Request("http://localhost/find"))).status, 405);
  assertEquals((await handle(search, new Request("http://localhost/"))).status, 404);
});

Deno.test("the service runs behind node:http", async () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  const vectors = randomVectors(2);
  using search = new Search(device, vectors, DIMENSIONS);
  const server = nodeServer(search);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  const response = await fetch(`http://127.0.0.1:${address.port}/find`, {
    method: "POST",
    body: JSON.stringify([...rowOf(vectors, 1)]),
  });
  assertEquals(response.status, 200);
  const { score } = await response.json();
  assert(Number(score) > 0, `${score}`);
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("Batcher collects what arrives while a batch runs, and fails a batch alone", async () => {
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>(async (inputs) => {
    batches.push([...inputs]);
    await Promise.resolve();
    if (inputs.includes(13)) throw new RangeError("thirteen");
    return inputs.map((x) => 2 * x);
  }, { maxBatch: 3, lanes: 1 });
  const first = batcher.submit(1);
  await Promise.resolve();
  const later = [2, 3, 4, 5].map((x) => batcher.submit(x));
  assertEquals(await Promise.all([first, ...later]), [2, 4, 6, 8, 10]);
  assertEquals(batches, [[1], [2, 3, 4], [5]]);
  await assertRejects(() => batcher.submit(13), RangeError, "thirteen");
  assertEquals(await batcher.submit(7), 14);
});
