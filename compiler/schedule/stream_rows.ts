/**
 * Rows that several loops go over: the last of them reads and writes what caches need not keep.
 *
 *     while: s = f(s, load X + c)             while: s = f(s, load X + c)
 *     while: store Y + c, g(load X + c, s)    while: store Y + c, g(load X + c "cs", s) "cs"
 *
 * All blocks of a GPU are at rows of their own, so between the first and the last time that a block reads its row, L2 gets
 * the rows of all others, and what they write. If that is evicted first, there is room for more rows: softmax in two
 * loops, 8192 rows of 5120 floats, makes 0.91 of a copy instead of 0.73 (H200, tests/gpu/results/texts.md). What several programs
 * read, such as the keys of all queries, is kept: addresses of rows depend on all that programs are numbered by.
 */
import { edgesOf, loopOf } from "../ir/flow.ts";
import { isOp, type Op, type OpOf, type Region, setAttrs, type Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { holds, walkOps } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";
import type { PlainPass } from "../tile/pass.ts";
import { isSameInLoops, Signatures } from "./loop_addresses.ts";

export const streamRows: PlainPass = {
  name: "stream-rows",
  doc: "of rows that several loops go over, the last one streams",
  run: ({ body }) => {
    if (!holds(body, LOOPS)) return false;
    const programs = new Programs(body);
    const signatures = new Signatures();
    let isChanged = false;
    const visit = (region: Region): void => {
      isChanged = streamLast(region, programs, signatures) || isChanged;
      for (const { regions } of region.ops) regions.forEach(visit);
    };
    visit(body);
    return isChanged;
  },
};

const LOOPS: ReadonlySet<Op["name"]> = new Set(["while"]);

/** An access to a tile, and the loop that does it. */
interface Access {
  readonly op: OpOf<"load" | "store">;
  readonly loop: OpOf<"while">;
  readonly signature: number;
}

const isSame = (a: Access, b: Access): boolean =>
  a.signature === b.signature &&
  isSameInLoops(
    { loop: a.loop, value: operandsOf(a.op).pointer },
    { loop: b.loop, value: operandsOf(b.op).pointer },
  );

/** Between the loops of a region. */
function streamLast({ ops }: Region, programs: Programs, signatures: Signatures): boolean {
  const loops = ops.filter((op) => isOp(op, "while"));
  const accesses = loops.map((loop) => accessesOf(loop, signatures));
  let isChanged = false;
  accesses.forEach((own, at) => {
    const [before, behind] = [accesses.slice(0, at).flat(), accesses.slice(at + 1).flat()];
    const isAgain = (access: Access): boolean =>
      before.some((one) => isSame(access, one)) && programs.areApart(operandsOf(access.op).pointer);
    if (!own.some((access) => access.op.name === "load" && isAgain(access))) return;
    for (const access of own) {
      const { op } = access;
      const isLast = !behind.some((one) => isSame(access, one));
      if (!isLast || !isPlain(op) || (op.name === "load" && !isAgain(access))) continue;
      setAttrs(op, { modifiers: [...op.attrs.modifiers, "cs"] });
      isChanged = true;
    }
  });
  return isChanged;
}

function accessesOf(loop: OpOf<"while">, signatures: Signatures): readonly Access[] {
  return loopOf(loop).body.ops.flatMap((op): Access[] => {
    if (!isOp(op, "load") && !isOp(op, "store")) return [];
    const { pointer } = operandsOf(op);
    if (pointer.type.shape.length === 0) return [];
    return [{ op, loop, signature: signatures.of({ loop, value: pointer }) }];
  });
}

/** Without what the program says of caches. */
const isPlain = ({ attrs: { modifiers } }: OpOf<"load" | "store">): boolean =>
  modifiers.every((modifier) => modifier === "nc");

/** How programs are numbered. */
class Programs {
  /** Of each axis along which programs are numbered, what depends on their index. */
  readonly #dependent: readonly ReadonlySet<Value>[];

  constructor(body: Region) {
    const to = new Map<Value, Value[]>();
    const ids = new Map<number, Value[]>();
    const note = (from: Value, values: readonly Value[]): void => {
      const known = to.get(from);
      if (known === undefined) to.set(from, [...values]);
      else known.push(...values);
    };
    walkOps(body, (op) => {
      if (op.name === "program_id") {
        ids.set(op.attrs.axis, [...ids.get(op.attrs.axis) ?? [], ...op.results]);
      }
      for (const operand of op.operands) note(operand, op.results);
      for (const edge of edgesOf(op)) {
        for (const [from, value] of zip(edge.from, edge.to)) note(from, [value]);
      }
    });
    this.#dependent = [...ids.values()].map((start) => {
      const found = new Set<Value>();
      const left = [...start];
      for (let value = left.pop(); value !== undefined; value = left.pop()) {
        if (found.has(value)) continue;
        found.add(value);
        left.push(...to.get(value) ?? []);
      }
      return found;
    });
  }

  /** Whether addresses depend on all axes along which programs are numbered. */
  areApart(pointer: Value): boolean {
    return this.#dependent.every((values) => values.has(pointer));
  }
}
