/**
 * Rows that several loops go over: the last of them reads and writes what caches need not keep.
 *
 *     while: s = f(s, load X + c)             while: s = f(s, load X + c)
 *     while: store Y + c, g(load X + c, s)    while: store Y + c, g(load X + c "cs", s) "cs"
 *
 * All blocks of a GPU are at rows of their own, so between the first and the last time that a block reads its row, L2 gets
 * the rows of all others, and what they write. If that is evicted first, there is room for more rows: softmax in two
 * loops, 8192 rows of 5120 floats, makes 0.91 of a copy instead of 0.73 (H200, tests/gpu/RESULTS.md). What several programs
 * read, such as the keys of all queries, is kept: addresses of rows depend on all that programs are numbered by.
 */
import { edgesOf, loopOf, sourceOf } from "../ir/flow.ts";
import { isOp, type OpOf, type Region, setAttrs, type Value } from "../ir/func.ts";
import { madeBy, operandsOf } from "../ir/op.ts";
import { spellIrType } from "../ir/print.ts";
import { walkOps } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";
import { attrsKey } from "../tile/cse.ts";
import type { PlainPass } from "../tile/pass.ts";

export const streamRows: PlainPass = {
  name: "stream-rows",
  doc: "of rows that several loops go over, the last one streams",
  run: ({ body }) => {
    const programs = new Programs(body);
    let isChanged = false;
    const visit = (region: Region): void => {
      isChanged = streamLast(region, programs) || isChanged;
      for (const { regions } of region.ops) regions.forEach(visit);
    };
    visit(body);
    return isChanged;
  },
};

/** An access to a tile, and the loop that does it. */
interface Access {
  readonly op: OpOf<"load" | "store">;
  readonly loop: OpOf<"while">;
}

/** Between the loops of a region. */
function streamLast({ ops }: Region, programs: Programs): boolean {
  const loops = ops.filter((op) => isOp(op, "while"));
  const accesses = loops.map((loop) => accessesOf(loop));
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

function accessesOf(loop: OpOf<"while">): readonly Access[] {
  return loopOf(loop).body.ops.flatMap((op): Access[] => {
    const isAccess = isOp(op, "load") || isOp(op, "store");
    return isAccess && operandsOf(op).pointer.type.shape.length > 0 ? [{ op, loop }] : [];
  });
}

/** Without what the program says of caches. */
const isPlain = ({ attrs: { modifiers } }: OpOf<"load" | "store">): boolean =>
  modifiers.every((modifier) => modifier === "nc");

/** Whether two loops go over the same addresses: by the same operations, from the same start in the same steps. */
function isSame(a: Access, b: Access): boolean {
  const seen = new Set<string>();
  const pairs: (readonly [Value, Value])[] = [
    [operandsOf(a.op).pointer, operandsOf(b.op).pointer],
  ];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [x, y] = [withoutLayout(pair[0]), withoutLayout(pair[1])];
    const key = `${x.id},${y.id}`;
    if (x === y || seen.has(key)) continue;
    seen.add(key);
    const [from, other] = [sourcesIn(a.loop, x), sourcesIn(b.loop, y)];
    if (from.kind !== other.kind || from.values.length !== other.values.length) return false;
    pairs.push(...zip(from.values, other.values));
  }
  return true;
}

function withoutLayout(value: Value): Value {
  for (let at = value;;) {
    const convert = madeBy(at, "convert_layout");
    if (convert === undefined) return at;
    at = operandsOf(convert).value;
  }
}

/** What a value of a loop is made of; its kind and the same values give the same value. */
function sourcesIn(
  loop: OpOf<"while">,
  value: Value,
): { readonly kind: string; readonly values: readonly Value[] } {
  const { def, type } = value;
  if (def !== undefined && def.regions.length === 0 && def.results.length === 1) {
    return { kind: `${attrsKey(def)} ${spellIrType(type)}`, values: def.operands };
  }
  const values = edgesOf(loop).flatMap((edge) => sourceOf(edge, value) ?? []);
  // What comes from elsewhere is the same as itself only.
  return { kind: values.length > 0 ? "carried" : `value ${value.id}`, values };
}

/** How programs are numbered. */
class Programs {
  readonly #axes = new Set<number>();
  /** What parameters and results of regions come from. */
  readonly #from = new Map<Value, Value[]>();

  constructor(body: Region) {
    walkOps(body, (op) => {
      if (op.name === "program_id") this.#axes.add(op.attrs.axis);
      for (const edge of edgesOf(op)) {
        for (const [from, to] of zip(edge.from, edge.to)) {
          this.#from.set(to, [...this.#from.get(to) ?? [], from]);
        }
      }
    });
  }

  /** Whether addresses depend on all axes along which programs are numbered. */
  areApart(pointer: Value): boolean {
    const found = new Set<number>();
    const seen = new Set<Value>();
    const left = [pointer];
    for (let value = left.pop(); value !== undefined; value = left.pop()) {
      if (seen.has(value)) continue;
      seen.add(value);
      const { def } = value;
      if (isOp(def, "program_id")) found.add(def.attrs.axis);
      left.push(...def?.operands ?? [], ...this.#from.get(value) ?? []);
    }
    return [...this.#axes].every((axis) => found.has(axis));
  }
}
