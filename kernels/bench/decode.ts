/** One query of 32 heads over N keys of 8 heads of 128 numbers, 2^18 keys in all, in one piece and in pages of 64 keys. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import { decode, decodeCombine } from "../../generated/decode.ts";
import { normal } from "./inputs.ts";

const [HEADS, KEY_HEADS, WIDTH, KEYS] = [32, 8, 128, 2 ** 18];
/** Programs of the first kernel: three for each multiprocessor. */
const PROGRAMS = 396;

function rows(paged: boolean): Benchmark {
  return benchmark({
    name: paged ? "decode_paged_float16" : "decode_float16",
    title: `One query${paged ? ", keys in pages" : ""}, float16`,
    x: { names: ["N"], values: [4096, 32768, 262144] },
    measure: { unit: "GB/s", bytes: () => 4 * KEYS * KEY_HEADS * WIDTH },
    inputs: ({ device, x: n, keep }) => {
      const sequences = KEYS / n;
      const size = paged ? 64 : n;
      const pairs = KEY_HEADS * sequences;
      const splits = Math.max(1, Math.floor((pairs <= PROGRAMS ? 1 : 3) * PROGRAMS / pairs));
      const shape = [KEYS / size, KEY_HEADS, size, WIDTH] as const;
      const results = [sequences, HEADS, 1, splits] as const;
      return {
        q: keep(normal(device, "float16", [sequences, HEADS, 1, WIDTH])),
        k: keep(normal(device, "float16", shape)),
        v: keep(normal(device, "float16", shape)),
        table: keep(
          device.tensor(Int32Array.from({ length: KEYS / size }, (_, i) => i), [
            sequences,
            n / size,
          ]),
        ),
        lengths: keep(device.tensor(new Int32Array(sequences).fill(n), [sequences])),
        parts: keep(device.empty("float32", [...results, WIDTH])),
        lse: keep(device.empty("float32", results)),
        out: {
          o: keep(device.empty("float16", [sequences, HEADS, 1, WIDTH])),
          lse: keep(device.empty("float32", [sequences, HEADS, 1])),
        },
        splits,
      };
    },
    lines: {
      ours: {
        label: "tri",
        prepare: ({ q, k, v, table, lengths, parts, lse, out, splits }) => {
          const scale = 1 / Math.sqrt(WIDTH);
          const options = { splits, scale, causal: true, out: { parts, lse } };
          const first = decode.prepare(q, k, v, table, lengths, options);
          const second = decodeCombine.prepare(parts, lse, { out });
          return (): void => {
            first();
            second();
          };
        },
      },
    },
  });
}

export default [rows(false), rows(true)];
