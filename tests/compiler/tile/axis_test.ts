/** Axis analysis against brute force: whatever it claims of a value must hold for the value's elements. */
import fc from "../../support/property.ts";
import { assertEquals, AssertionError } from "../../support/assert.ts";
import { randomFunc } from "../../support/compiler/random_func.ts";
import { runFunc, type Tile } from "../../support/compiler/tile_interpreter.ts";
import { axisAnalysis, type AxisInfo, MOST, powerOfTwoIn } from "../../../compiler/tile/axis.ts";
import {
  type Attrs,
  type Func,
  newFunc,
  newOp,
  newValue,
  type Value,
} from "../../../compiler/ir/func.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import type { TileOp } from "../../../compiler/ir/ops.ts";
import { bytesOf, type Element, type IrType, isPointer } from "../../../compiler/ir/types.ts";
import { walkOps } from "../../../compiler/ir/walk.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { must } from "../../../compiler/support/bug.ts";

const SPAN = { file: { name: "<axis>", text: "" }, start: 0, end: 0 };
const pointerTo = (pointee: Element): Element => ({ kind: "pointer", pointee, space: "global" });

/** A function with the arguments that its parameter facts allow. */
class Sample {
  readonly func: Func & { params: Value[] } & ReturnType<typeof newFunc> = newFunc("sample");
  readonly args: bigint[] = [];

  param(element: Element, multipleof: number, value: bigint): Value {
    const param = newValue(this.func, { element, shape: [] });
    this.func.params.push(param);
    this.func.paramFacts.push({ multipleof, noalias: false, readonly: false, writeonly: false });
    this.args.push(value);
    return param;
  }

  op(name: TileOp, operands: readonly Value[], type: IrType, attrs: Attrs = {}): Value {
    const op = newOp(this.func, name, operands, [type], SPAN, attrs);
    this.func.body.ops.push(op);
    return must(op.results[0], "result");
  }

  /** Runs the function and compares each value with what is claimed of it. */
  check(): void {
    this.func.body.ops.push(newOp(this.func, "return", [], [], SPAN));
    verifyFunc(this.func);
    const claims = axisAnalysis(this.func);
    this.func.params.forEach((param, i) => {
      checkClaims(param, [must(this.args[i], "argument")], claims(param));
    });
    runFunc(this.func, this.args, {
      memory: new Map(),
      programId: [3],
      rounds: 0,
      observe: (value, tile) => checkClaims(value, tile, claims(value)),
    });
  }
}

/** The elements along one axis, one list per line. */
function linesOf(tile: Tile, shape: readonly number[], axis: number): bigint[][] {
  const extent = shape[axis] ?? 1;
  const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  return Array.from({ length: tile.length / extent }, (_, line) => {
    const start = Math.floor(line / inner) * inner * extent + line % inner;
    return Array.from(
      { length: extent },
      (_, i) => BigInt(must(tile[start + i * inner], "element")),
    );
  });
}

function chunks(line: readonly bigint[], length: number): bigint[][] {
  return Array.from(
    { length: Math.ceil(line.length / length) },
    (_, i) => line.slice(i * length, (i + 1) * length),
  );
}

/** Fails where what is claimed of a value does not hold. Tiles as text take longer than all comparisons. */
function checkClaims(value: Value, tile: Tile, info: AxisInfo): void {
  const broken = brokenClaim(value.type, tile, info);
  if (broken === undefined) return;
  const name = value.def?.name ?? "parameter";
  throw new AssertionError(`${broken} of ${name} ${JSON.stringify(info)}: ${tile}`);
}

/** The claim that does not hold. */
function brokenClaim({ element, shape }: IrType, tile: Tile, info: AxisInfo): string | undefined {
  const step = isPointer(element) ? BigInt(bytesOf(element.pointee)) : 1n;
  for (let axis = 0; axis < Math.max(1, shape.length); axis++) {
    const contiguity = must(info.contiguity[axis], "a fact per axis");
    const divisibility = must(info.divisibility[axis], "a fact per axis");
    const constancy = must(info.constancy[axis], "a fact per axis");
    // What vector accesses rely on: runs that are aligned to their own size do not wrap.
    const aligned = Math.max(1, divisibility / Number(step));
    for (const line of linesOf(tile, shape, axis)) {
      for (const run of chunks(line, contiguity)) {
        const start = must(run[0], "start");
        // Facts hold modulo 2^32, and modulo 2^8 for what was ever as narrow.
        if (!increases(run, step, 256n)) return "contiguity";
        if (start % BigInt(divisibility) !== 0n) return "divisibility";
        const parts = chunks(run, Math.min(run.length, aligned));
        if (!parts.every((part) => increases(part, step))) return "aligned runs";
      }
      const isConstant = (run: readonly bigint[]): boolean => run.every((x) => x === run[0]);
      if (!chunks(line, constancy).every(isConstant)) return "constancy";
    }
  }
  return undefined;
}

/** Whether elements follow each other by a step, exactly or modulo a number. */
function increases(run: readonly bigint[], step: bigint, modulus?: bigint): boolean {
  let expected = must(run[0], "start");
  return run.every((x) => {
    const error = x - expected;
    expected += step;
    return modulus === undefined ? error === 0n : error % modulus === 0n;
  });
}

/** Draws numbers from a list; shrinks towards the first choices. */
class Draw {
  #at = 0;
  constructor(readonly numbers: readonly number[]) {}
  below(limit: number): number {
    return (this.numbers[this.#at++ % this.numbers.length] ?? 0) % limit;
  }
  pick<T>(list: readonly T[]): T {
    return must(list[this.below(list.length)], "choice");
  }
}

const INTS = ["int32", "uint32", "int64", "int8"] as const;
const POINTERS = [pointerTo("float32"), pointerTo("float16"), pointerTo("int8")];

/** Where the tile of a program begins. */
function programStart(sample: Sample, extent: number): Value {
  const type: IrType = { element: "int32", shape: [] };
  const size = sample.op("constant", [], type, { value: BigInt(extent) });
  return sample.op("mul", [sample.op("program_id", [], type, { axis: 0 }), size], type);
}

/** A random function whose values are of one shape in the end: enough to meet all rules in all orders. */
function randomSample(draw: Draw): Sample {
  const sample = new Sample();
  const shape = [draw.pick([8, 32, 2, 1]), draw.pick([16, 4, 64, 1])];
  const pool: Value[] = [];
  const scalarOf = (element: Element): Value => {
    const multipleof = draw.pick([1, 4, 16, 12, 64]);
    if (isPointer(element)) {
      const unit = Math.max(multipleof, bytesOf(element.pointee)) * (multipleof === 12 ? 4 : 1);
      return sample.param(element, multipleof, BigInt(unit * (1 + draw.below(1000))));
    }
    const factor = BigInt(
      draw.pick([1, 2, 0, 3, 17]) * (element === "int8" ? 1 : 1 + draw.below(99)),
    );
    const edge = element === "int32" && draw.below(6) === 0 ? 2n ** 31n - 1n : 0n;
    const value = (edge - edge % BigInt(multipleof)) +
      (edge > 0n ? 0n : BigInt(multipleof) * factor);
    const param = sample.param(element, multipleof, fit(element, value, multipleof));
    if (draw.below(3) > 0) return param;
    // The promise of a local: here of a value that keeps it.
    const promised = sample.args.at(-1) ?? 0n;
    const n = Math.min(2 ** 10, powerOfTwoIn(promised));
    return sample.op("assume_multiple", [param], { element, shape: [] }, { n });
  };
  const tileOf = (element: Element): Value => {
    const type: IrType = { element, shape };
    const fitting = pool.filter((value) => JSON.stringify(value.type) === JSON.stringify(type));
    if (fitting.length > 0 && draw.below(3) > 0) return draw.pick(fitting);
    const kind = draw.below(4);
    if (element === "int32" && kind < 3) {
      const axis = draw.below(2);
      const extent = must(shape[axis], "extent");
      const lo = draw.pick([0n, 4n, 3n, 16n]);
      let line = sample.op("range", [], { element, shape: [extent] }, { lo });
      if (draw.below(2) > 0) {
        const from = draw.below(2) === 0 ? scalarOf(element) : programStart(sample, extent);
        const start = sample.op("splat", [from], { element, shape: [extent] });
        line = sample.op("add", [line, start], line.type);
      }
      const wide = axis === 0 ? [extent, 1] : [1, extent];
      const expanded = draw.below(2) === 0
        ? sample.op("expand_dims", [line], { element, shape: wide }, { axis: 1 - axis })
        : sample.op("reshape", [line], { element, shape: wide });
      return sample.op("broadcast", [expanded], type);
    }
    return sample.op("splat", [scalarOf(element)], type);
  };
  for (let i = 0; i < 8 + draw.below(20); i++) {
    const element: Element = draw.pick<Element>(["int32", ...INTS, ...POINTERS]);
    const type: IrType = { element, shape };
    if (isPointer(element)) {
      const count = tileOf(draw.pick(["int32", "int64"]));
      pool.push(sample.op("offset", [tileOf(element), count], type));
      continue;
    }
    const name = draw.pick(
      [
        "add",
        "sub",
        "mul",
        "divide",
        "halve",
        "select",
        "compare",
        "convert",
        "permute",
        "splat",
      ] as const,
    );
    switch (name) {
      case "add":
      case "sub":
      case "mul":
        pool.push(sample.op(name, [tileOf(element), tileOf(element)], type));
        break;
      case "divide": {
        const multipleof = draw.pick([1, 4, 16, 12]);
        const value = BigInt(multipleof * (1 + draw.below(5)));
        const divisor = sample.op("splat", [sample.param(element, multipleof, value)], type);
        pool.push(sample.op(draw.pick(["div", "rem"]), [tileOf(element), divisor], type));
        break;
      }
      case "halve": {
        const name = draw.pick(["div", "shl", "shr"] as const);
        const value = BigInt(draw.pick(name === "div" ? [2, 8, 6] : [1, 3]));
        const by = sample.op("constant", [], type, { value });
        pool.push(sample.op(name, [tileOf(element), by], type));
        break;
      }
      case "select": {
        const kind = draw.pick<Element>([element, ...POINTERS]);
        const condition = sample.op(draw.pick(["lt", "ge"]), [tileOf("int32"), tileOf("int32")], {
          element: "bool",
          shape,
        });
        pool.push(
          sample.op("select", [condition, tileOf(kind), tileOf(kind)], { element: kind, shape }),
        );
        break;
      }
      case "compare": {
        const kind = draw.pick<Element>([element, ...POINTERS]);
        sample.op(draw.pick(["lt", "le", "gt", "ge", "eq"]), [tileOf(kind), tileOf(kind)], {
          element: "bool",
          shape,
        });
        break;
      }
      case "convert":
        pool.push(sample.op("convert", [tileOf(draw.pick(INTS))], type));
        break;
      case "permute": {
        const transposed = [must(shape[1], "extent"), must(shape[0], "extent")];
        const there = sample.op("permute", [tileOf(element)], { element, shape: transposed }, {
          order: [1, 0],
        });
        pool.push(sample.op("permute", [there], type, { order: [1, 0] }));
        break;
      }
      case "splat":
        pool.push(tileOf(element));
    }
  }
  return sample;
}

/** The nearest multiple that the type holds. */
function fit(element: Element, value: bigint, multipleof: number): bigint {
  if (element !== "int8") return value;
  return value > 127n ? BigInt(127 - 127 % multipleof) : value;
}

Deno.test("axisAnalysis() never claims more of random functions than their elements show", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 2 ** 20 }), { minLength: 40, maxLength: 200 }),
      (numbers) => randomSample(new Draw(numbers)).check(),
    ),
    { numRuns: 300 },
  );
});

Deno.test("axisAnalysis() sees what a row of a matrix is made of", () => {
  const sample = new Sample();
  const x = sample.param(pointerTo("float32"), 16, 4096n);
  const ld = sample.param("int32", 4, 100n);
  const line = (shape: readonly number[]): Value =>
    sample.op("broadcast", [
      sample.op(
        "expand_dims",
        [sample.op("range", [], { element: "int32", shape: [32] }, { lo: 0n })],
        { element: "int32", shape },
        { axis: shape[0] === 1 ? 0 : 1 },
      ),
    ], { element: "int32", shape: [32, 32] });
  const type: IrType = { element: "int32", shape: [32, 32] };
  const rows = sample.op("mul", [line([32, 1]), sample.op("splat", [ld], type)], type);
  const pointers = { element: pointerTo("float32"), shape: [32, 32] };
  const start = sample.op("offset", [sample.op("splat", [x], pointers), rows], pointers);
  const tile = sample.op("offset", [start, line([1, 32])], pointers);
  sample.check();
  assertEquals(axisAnalysis(sample.func)(tile), {
    contiguity: [1, 32],
    divisibility: [4, 16],
    constancy: [1, 1],
  });
});

Deno.test("axisAnalysis() knows that rows before others are aligned as those after them", () => {
  const sample = new Sample();
  const x = sample.param(pointerTo("float32"), 16, 4096n);
  const ld = sample.param("int32", 4, 100n);
  const before = sample.op("neg", [ld], ld.type);
  const start = sample.op("offset", [x, before], x.type);
  sample.check();
  assertEquals(axisAnalysis(sample.func)(start).divisibility, [16]);
});

Deno.test("axisAnalysis() knows that half of a row is aligned for half as many elements", () => {
  const sample = new Sample();
  const x = sample.param(pointerTo("float16"), 16, 4096n);
  const d = sample.param("int32", 8, 72n);
  const halves = (["div", "shr"] as const).map((name) => {
    const by = sample.op("constant", [], d.type, { value: name === "div" ? 2n : 1n });
    return sample.op("offset", [x, sample.op(name, [d, by], d.type)], x.type);
  });
  const third = sample.op("constant", [], d.type, { value: 3n });
  const other = sample.op("div", [d, third], d.type);
  const twice = sample.op(
    "shl",
    [d, sample.op("constant", [], d.type, { value: 1n })],
    d.type,
  );
  sample.check();
  const of = axisAnalysis(sample.func);
  for (const half of halves) assertEquals(of(half).divisibility, [8]);
  assertEquals(of(other).divisibility, [1]);
  assertEquals(of(twice).divisibility, [16]);
});

Deno.test("axisAnalysis() takes the starts inside old runs into account when runs get shorter", () => {
  const sample = new Sample();
  const type: IrType = { element: "int32", shape: [16] };
  const range = sample.op("range", [], type, { lo: 0n });
  const even = sample.op("mul", [range, sample.op("constant", [], type, { value: 2n })], type);
  const sum = sample.op("add", [range, even], type);
  sample.check();
  const of = axisAnalysis(sample.func);
  assertEquals(of(range), { contiguity: [16], divisibility: [MOST], constancy: [1] });
  assertEquals(of(sum), { contiguity: [1], divisibility: [1], constancy: [1] });
});

Deno.test("axisAnalysis() says how long a bounds check answers alike", () => {
  const sample = new Sample();
  const type: IrType = { element: "int32", shape: [64] };
  const n = sample.op("splat", [sample.param("int32", 8, 24n)], type);
  const check = sample.op("lt", [sample.op("range", [], type, { lo: 0n }), n], {
    element: "bool",
    shape: [64],
  });
  sample.check();
  assertEquals(axisAnalysis(sample.func)(check).constancy, [8]);
});

Deno.test("axisAnalysis() ends runs of quotients and remainders of unsigned numbers at multiples of the divisor", () => {
  for (const element of ["uint32", "int32"] as const) {
    for (const start of [0n, 16n, -32n]) {
      const sample = new Sample();
      const type: IrType = { element, shape: [64] };
      const from = sample.op("splat", [sample.param(element, 16, BigInt.asUintN(32, start))], type);
      const run = sample.op("add", [sample.op("range", [], type, { lo: 0n }), from], type);
      const by = sample.op("splat", [sample.param(element, 8, 24n)], type);
      const quotient = sample.op("div", [run, by], type);
      const rest = sample.op("rem", [run, by], type);
      if (element === "uint32" || start >= 0n) sample.check();
      const of = axisAnalysis(sample.func);
      const runs = element === "uint32" ? 8 : 1;
      assertEquals(of(quotient).constancy, [runs]);
      assertEquals(of(rest), { contiguity: [runs], divisibility: [runs], constancy: [1] });
    }
  }
});

Deno.test("axisAnalysis() knows that tiles of programs are not negative, and quotients of them not of signed numbers", () => {
  const sample = new Sample();
  const type: IrType = { element: "int32", shape: [64] };
  const range = sample.op("range", [], type, { lo: 0n });
  const tile = sample.op(
    "add",
    [sample.op("splat", [programStart(sample, 64)], type), range],
    type,
  );
  const by = sample.op("splat", [sample.param("int32", 8, 24n)], type);
  const [row, column] = (["div", "rem"] as const).map((name) => sample.op(name, [tile, by], type));
  const before = sample.op("sub", [tile, sample.op("constant", [], type, { value: 64n })], type);
  const signed = sample.op("rem", [before, by], type);
  sample.check();
  const of = axisAnalysis(sample.func);
  assertEquals(of(must(row, "quotient")).constancy, [8]);
  assertEquals(of(must(column, "remainder")).contiguity, [8]);
  assertEquals(of(signed).contiguity, [1]);
});

Deno.test("axisAnalysis() knows that what a loop counts up from zero is not negative", () => {
  const quotient = (step: string, from: string, test = "lt %6, %0"): AxisInfo => {
    const func = parseFunc(`func @f(%0 n: int32, %1 m: int32 {multipleof = 8}) {
  %2: int32 = constant ${from}
  %3: int32[64] = range 0
  %4: int32[64] = splat %1
  %12: int32 = constant 64
  %5: int32 = while %2 (%6: int32) {
    %7: bool = ${test}
    condition %7, %6
  } (%8: int32) {
    %9: int32[64] = splat %8
    %10: int32[64] = add %9, %3
    %11: int32[64] = div %10, %4
    %13: int32 = ${step}
    yield %13
  }
  return
}
`);
    let found: Value | undefined;
    walkOps(func.body, (op) => {
      if (op.name === "div") found = op.results[0];
    });
    return axisAnalysis(func)(must(found, "quotient"));
  };
  assertEquals(quotient("add %8, %12", "0").constancy, [8]);
  assertEquals(quotient("add %12, %8", "0").constancy, [8]);
  assertEquals(quotient("sub %8, %12", "0").constancy, [1]);
  assertEquals(quotient("add %8, %12", "-64").constancy, [1]);
  assertEquals(quotient("add %8, %8", "0").constancy, [1]);
  assertEquals(quotient("add %8, %12", "0", "gt %0, %6").constancy, [8]);
  // It may wrap around in these.
  assertEquals(quotient("add %8, %12", "0", "ne %6, %0").constancy, [1]);
  assertEquals(quotient("add %8, %12", "0", "gt %6, %0").constancy, [1]);
  assertEquals(quotient("add %8, %12", "0", "lt %0, %1").constancy, [1]);
});

Deno.test("axisAnalysis() finds which side of a comparison may run, and ends the runs of a select with it", () => {
  const type: IrType = { element: "int32", shape: [32] };
  const bool: IrType = { element: "bool", shape: [32] };
  for (const name of ["lt", "le", "gt", "ge", "eq", "ne"] as const) {
    for (let bound = -8n; bound <= 40n; bound += 4n) {
      const sample = new Sample();
      const run = sample.op("range", [], type, { lo: 0n });
      const other = sample.op("splat", [sample.param("int32", 4, bound)], type);
      for (const operands of [[run, other], [other, run]]) {
        const choice = sample.op(name, operands, bool);
        const far = sample.op("add", [run, other], type);
        sample.op("select", [choice, run, far], type);
      }
      sample.check();
    }
  }
});

Deno.test("axisAnalysis() does not let bytes of pointers pass for elements in comparisons", () => {
  const sample = new Sample();
  const type: IrType = { element: pointerTo("float32"), shape: [8] };
  const range = sample.op("range", [], { element: "int32", shape: [8] }, { lo: 0n });
  const start = sample.op("splat", [sample.param(pointerTo("float32"), 16, 16n)], type);
  const end = sample.op("splat", [sample.param(pointerTo("float32"), 16, 32n)], type);
  sample.op("lt", [sample.op("offset", [start, range], type), end], {
    element: "bool",
    shape: [8],
  });
  sample.check();
});

Deno.test("axisAnalysis() ends runs where a narrow integer wraps", () => {
  const sample = new Sample();
  const range = sample.op("range", [], { element: "int32", shape: [512] }, { lo: 0n });
  const narrow = sample.op("convert", [range], { element: "int8", shape: [512] });
  sample.op("lt", [
    narrow,
    sample.op("constant", [], { element: "int8", shape: [512] }, { value: 0n }),
  ], { element: "bool", shape: [512] });
  sample.op("convert", [narrow], { element: "int32", shape: [512] });
  sample.check();
});

/** What is known of the pointer tile that a loop carries and moves on by so many floats a round. */
function carriedBy(step: string): AxisInfo {
  const func = parseFunc(`func @f(%0 x: float32* {multipleof = 16}, %1 n: int32) {
  %2: int32 = constant 0
  %3: float32*[64] = splat %0
  %4: int32[64] = range 0
  %5: float32*[64] = offset %3, %4
  %6: float32*[64] = while %5, %2 (%7: float32*[64], %8: int32) {
    %9: bool = lt %8, %1
    condition %9, %7
  } (%10: float32*[64]) {
    %11: int32[64] = constant ${step}
    %12: float32*[64] = offset %10, %11
    yield %12, %1
  }
  return
}
`);
  const loop = must(func.body.ops.find(({ name }) => name === "while"), "loop");
  return axisAnalysis(func)(must(loop.regions[1]?.params[0], "carried pointer"));
}

Deno.test("axisAnalysis() keeps of carried pointers the facts that every iteration preserves", () => {
  assertEquals(carriedBy("64"), { contiguity: [64], divisibility: [16], constancy: [1] });
  assertEquals(carriedBy("2"), { contiguity: [64], divisibility: [8], constancy: [1] });
  assertEquals(carriedBy("-3"), { contiguity: [64], divisibility: [4], constancy: [1] });
});

Deno.test("axisAnalysis() claims nothing false of random functions with loops and branches", () => {
  fc.assert(
    fc.property(fc.nat(100_000), (seed) => {
      const func = randomFunc(seed);
      const claims = axisAnalysis(func);
      runFunc(func, [4n * BigInt(seed) + 4096n, BigInt(seed % 7), 40n, 1.5, BigInt(seed % 2)], {
        memory: new Map(),
        programId: [3],
        rounds: 40,
        observe: (value, tile) => {
          if (tile.every((element) => typeof element === "bigint")) {
            checkClaims(value, tile, claims(value));
          }
        },
      });
    }),
    { numRuns: 150 },
  );
});

Deno.test("powerOfTwoIn() gives the largest power of two that divides a number", () => {
  assertEquals([1, 12, -8, 0, 2 ** 31].map(powerOfTwoIn), [1, 4, 8, MOST, MOST]);
  assertEquals(powerOfTwoIn(-(2n ** 40n)), MOST);
});
