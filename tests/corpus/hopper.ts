/** Expected results of hopper.cu. */
import { integers } from "./data.ts";
import { buffer, type CorpusCase, inout, int, output, type TensorMapArgument } from "./types.ts";

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;

const bulk: CorpusCase = {
  file: "hopper",
  kernel: "hopper_bulk",
  grid: [3, 1, 1],
  block: [128, 1, 1],
  sm: 90,
  arguments: () => {
    const x = Int32Array.from(integers(401, 3 * 1024, -100000, 100000));
    const before = Int32Array.from(integers(402, 1024, -100, 100));
    const y = x.map((value, i) => 2 * value + i % 1024);
    const sum = before.map((value, i) => value + at(y, i) + at(y, 1024 + i) + at(y, 2048 + i));
    return [buffer(x), output(y), inout(before, sum)];
  },
};

const PLAIN = {
  elementStrides: [1, 1],
  interleave: "none",
  promotion: "none",
  fill: "zero",
} as const;

/** A matrix of singles whose rows are padded, seen in boxes of 32 x 32. */
function matrix(rows: number, columns: number, stride: number): TensorMapArgument["map"] {
  return {
    ...PLAIN,
    type: "float32",
    extents: [columns, rows],
    strides: [4 * stride],
    box: [32, 32],
    swizzle: "128B",
  };
}

const tensor: CorpusCase = {
  file: "hopper",
  kernel: "hopper_tensor",
  grid: [3, 2, 1],
  block: [128, 1, 1],
  sm: 90,
  arguments: () => {
    // Columns of either matrix are multiples of 4: beyond the last, stores would go on to the next 16 bytes.
    const [rows, columns, stride] = [44, 84, 88];
    const x = Float32Array.from(integers(403, rows * stride, -1000, 1000));
    const pad = 48;
    const y = Float32Array.from({ length: columns * pad }, (_, i) => {
      const [row, column] = [Math.floor(i / pad), i % pad];
      return column < rows ? at(x, column * stride + row) : 0;
    });
    return [
      { kind: "tensor map", data: x, map: matrix(rows, columns, stride) },
      {
        kind: "tensor map",
        data: new Float32Array(y.length),
        expected: y,
        map: matrix(columns, rows, pad),
      },
    ];
  },
};

const tensor3: CorpusCase = {
  file: "hopper",
  kernel: "hopper_tensor3",
  grid: [1, 1, 1],
  block: [32, 1, 1],
  sm: 90,
  arguments: () => {
    const [width, height, depth] = [20, 7, 6];
    const x = Int32Array.from(integers(404, width * height * depth, -1000, 1000));
    const before = Int32Array.from(integers(405, 8 * 4 * 4, -1000, 1000));
    const [x0, y0, z0] = [16, -1, 3];
    // Every other row.
    const after = before.map((value, i) => {
      const [column, row, plane] = [
        x0 + i % 8,
        y0 + 2 * (Math.floor(i / 8) % 4),
        z0 + Math.floor(i / 32),
      ];
      const inside = column < width && row >= 0 && row < height && plane < depth;
      return value + (inside ? at(x, (plane * height + row) * width + column) : 0);
    });
    const base = { ...PLAIN, type: "int32", swizzle: "none" } as const;
    return [
      {
        kind: "tensor map",
        data: x,
        map: {
          ...base,
          extents: [width, height, depth],
          strides: [4 * width, 4 * width * height],
          box: [8, 8, 4],
          elementStrides: [1, 2, 1],
        },
      },
      {
        kind: "tensor map",
        data: before,
        expected: after,
        map: {
          ...base,
          extents: [8, 4, 4],
          strides: [32, 128],
          box: [8, 4, 4],
          elementStrides: [1, 1, 1],
        },
      },
      int(x0),
      int(y0),
      int(z0),
    ];
  },
};

const pipeline: CorpusCase = {
  file: "hopper",
  kernel: "hopper_pipeline",
  grid: [2, 1, 1],
  block: [160, 1, 1],
  sm: 90,
  arguments: () => {
    const chunks = 13;
    const x = Float32Array.from(integers(406, 2 * chunks * 256, -1000, 1000));
    const sums = Float32Array.from({ length: 256 }, (_, i) => {
      const [block, t] = [Math.floor(i / 128), i % 128];
      let sum = 0;
      for (let k = 0; k < chunks; k++) {
        const from = (block * chunks + k) * 256;
        sum += 2 * at(x, from + t) + at(x, from + 255 - t);
      }
      return sum;
    });
    return [buffer(x), output(sums), int(chunks)];
  },
};

const cluster: CorpusCase = {
  file: "hopper",
  kernel: "hopper_cluster",
  grid: [4, 1, 1],
  block: [128, 1, 1],
  sm: 90,
  arguments: () => {
    const x = Uint8Array.from(integers(407, 3000, 0, 255), (value) => value & (value >> 1));
    const bins = new Uint32Array(256);
    for (const bin of x) bins[bin] = at(bins, bin) + 1;
    return [buffer(x), output(bins), int(x.length)];
  },
};

const ring: CorpusCase = {
  file: "hopper",
  kernel: "hopper_ring",
  grid: [4, 2, 2],
  block: [64, 1, 1],
  sm: 90,
  arguments: () => {
    const [width, height] = [4, 2];
    const x = Int32Array.from(integers(408, 16 * 64, -1000, 1000));
    const y = new Int32Array(x.length);
    for (let z = 0; z < 2; z++) {
      for (let left = 0; left < width; left += 2) {
        // The blocks of a cluster by rank.
        const blocks = [0, 1, 2, 3].map((rank) => {
          const [bx, by] = [left + rank % 2, Math.floor(rank / 2)];
          return (z * height + by) * width + bx;
        });
        let values = blocks.map((block) => Array.from(x.subarray(block * 64, block * 64 + 64)));
        for (let round = 0; round < 3; round++) {
          values = values.map((own, rank) => {
            const given = values[(rank + 3) % 4] ?? [];
            return own.map((_, t) => at(given, 63 - t) * 3 + rank);
          });
        }
        blocks.forEach((block, rank) => y.set(values[rank] ?? [], block * 64));
      }
    }
    return [buffer(x), output(y)];
  },
};

const multicast: CorpusCase = {
  file: "hopper",
  kernel: "hopper_multicast",
  grid: [2, 1, 1],
  block: [64, 1, 1],
  sm: 90,
  arguments: () => {
    const x = Int32Array.from(integers(409, 256, -1000, 1000));
    const y = Int32Array.from(
      { length: 512 },
      (_, i) => at(x, 255 - i % 256) + Math.floor(i / 256),
    );
    return [buffer(x), output(y)];
  },
};

const elect: CorpusCase = {
  file: "hopper",
  kernel: "hopper_elect",
  grid: [1, 1, 1],
  block: [64, 1, 1],
  sm: 90,
  arguments: () => [output(new Int32Array(64).fill(101))],
};

export const HOPPER: readonly CorpusCase[] = [
  bulk,
  tensor,
  tensor3,
  pipeline,
  cluster,
  ring,
  multicast,
  elect,
];
