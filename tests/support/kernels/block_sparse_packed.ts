/** Products of groups of blocks against double precision, on any device. */
import { ddsPacked, dsdPacked, sddPacked } from "../../../generated/block_sparse_packed.ts";
import {
  type Device,
  gatheredBlockTables,
  packedBlockTables,
  type Tensor,
} from "../../../ffi/mod.ts";
import { type BlockCase, BlockOperands } from "./block_sparse.ts";

/** Element types of the kernels. */
export const PACKED_TYPES = ["float16", "bfloat16"] as const;

type PackedCase = BlockCase<typeof PACKED_TYPES[number]>;

/** Elements of groups: down and across. */
const LEFT = [128, 64] as const;
const RIGHT = [64, 128] as const;
const RESULT = [128, 256] as const;
/** Runs of a result: elements of those of small blocks, and how many parts groups have. */
const RUN = 64;
const PARTS = 2;

/** Runs all three kernels and compares every element. */
export function checkPackedProducts(device: Device, test: PackedCase): void {
  const { size, blockRows, blockColumns, free } = test;
  const [rows, columns] = [blockRows * size, blockColumns * size];
  using at = new BlockOperands(device, test);
  const pack = ([high, wide]: readonly [number, number]): Packed => {
    const tables = packedBlockTables(at.mask, blockRows, blockColumns, high / size, wide / size);
    const shape = [tables.count, high / size, wide / size] as const;
    return { tables, blocksOf: (table) => device.tensor(table, shape) };
  };

  const left = pack(LEFT);
  const b = at.dense(columns, free);
  using blocks = left.blocksOf(left.tables.blocks);
  const c = at.poisonedDense(rows, free);
  const { rowOffsets } = left.tables;
  dsdPacked(at.blocks, at.table(rowOffsets), at.table(left.tables.columns), blocks, at.upload(b), {
    out: c,
  });
  at.compare("dsd_packed", c, at.sparse, b);

  const right = pack(RIGHT);
  const a = at.dense(free, rows);
  using columnBlocks = right.blocksOf(right.tables.columnBlocks);
  const d = at.poisonedDense(free, columns);
  const { columnOffsets, columnRows } = right.tables;
  ddsPacked(at.upload(a), at.blocks, at.table(columnOffsets), at.table(columnRows), columnBlocks, {
    out: d,
  });
  at.compare("dds_packed", d, a, at.sparse);

  const run = size === 16 ? RUN / size : 1;
  const [high, across] = [RESULT[0] / size / run, RESULT[1] / size / run];
  const result = gatheredBlockTables(
    at.mask,
    blockRows,
    blockColumns,
    high,
    across,
    run,
    PARTS,
  );
  const [tall, wide] = [at.dense(rows, free), at.dense(free, columns)];
  using resultRows = device.tensor(result.rows, [result.count, high]);
  using resultColumns = device.tensor(result.columns, [result.count, across]);
  using resultBlocks = device.tensor(result.blocks, [result.count, high * run, across * run]);
  const out = at.poisonedBlocks(at.blocks.shape[1]);
  const places = [resultRows, resultColumns, resultBlocks] as const;
  sddPacked(at.upload(tall), at.upload(wide), ...places, { out });
  at.compare("sdd_packed", out, tall, wide, true);
}

interface Packed {
  readonly tables: ReturnType<typeof packedBlockTables>;
  readonly blocksOf: (table: Int32Array<ArrayBuffer>) => Tensor<"int32", 3>;
}
