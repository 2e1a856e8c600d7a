/**
 * Runs tile IR on arrays: the meaning of each operation written down plainly, as the judge of passes. Scalars
 * are tiles of one element; addresses are bigints, memory is a map from address to value.
 */
import {
  convertScalar,
  evalBinary,
  evalUnary,
  type ScalarValue,
} from "../../../compiler/support/arith.ts";
import { evaluate } from "../../../compiler/contract/expr.ts";
import { must } from "../../../compiler/support/bug.ts";
import { flatten, unflatten } from "./tile_index.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { regionsOf } from "../../../compiler/ir/op.ts";
import { tileElement } from "../../../compiler/ir/tensor_map.ts";
import type { Func, Op, Region, Value } from "../../../compiler/ir/func.ts";
import { bytesOf, type Element, isFloat, isPointer } from "../../../compiler/ir/types.ts";

export type Tile = readonly ScalarValue[];

export interface Machine {
  readonly memory: Map<bigint, ScalarValue>;
  readonly programId: readonly number[];
  /** Rounds of all loops together; a test's own safeguard. */
  rounds: number;
  /** Called with every value as it is computed. */
  readonly observe?: (value: Value, tile: Tile) => void;
}

type Env = Map<Value, Tile>;

/** A machine with the tensors that a function's maps describe. */
interface Running {
  readonly machine: Machine;
  readonly tensors: readonly Tensor[];
}

/** A tensor map of a function for its arguments; strides in bytes. */
interface Tensor {
  readonly axes: readonly {
    readonly extent: bigint;
    readonly stride: bigint;
    readonly tile: number | undefined;
    readonly run: number | undefined;
  }[];
}

/** Runs a function to its end; what it did is in the machine's memory. */
export function runFunc(func: Func, args: readonly ScalarValue[], machine: Machine): void {
  const env: Env = new Map();
  func.params.forEach((param, index) => env.set(param, [must(args[index], "argument")]));
  const numbers = new Map(func.params.map(({ name }, i) => [name, args[i]]));
  const names = {
    param: (name: string): bigint => BigInt(must(numbers.get(name), "argument")),
  };
  const tensors = func.maps.map(({ element, axes }): Tensor => ({
    axes: axes.map(({ extent, stride, tile, run }) => ({
      extent: evaluate(extent, names),
      stride: evaluate(stride, names) * BigInt(bytesOf(tileElement(element))),
      tile,
      run,
    })),
  }));
  runRegion(func.body, env, { machine, tensors });
}

/** Gives the operands of the region's last operation. */
function runRegion(region: Region, env: Env, running: Running): Tile[] {
  const { machine } = running;
  for (const op of region.ops) {
    const operands = op.operands.map((value) => must(env.get(value), `%${value.id}`));
    if (op === region.ops.at(-1)) return operands;
    const results = runOp(op, operands, env, running);
    op.results.forEach((value, index) => {
      const tile = must(results[index], "result");
      env.set(value, tile);
      machine.observe?.(value, tile);
    });
  }
  return [];
}

function bind(region: Region, values: readonly Tile[], env: Env): void {
  region.params.forEach((param, index) =>
    env.set(param, must(values[index], "argument of a region"))
  );
}

const nameOf = (element: Element): ScalarName => isPointer(element) ? "uint64" : element;
const zeroOf = (element: Element): ScalarValue => isFloat(element) ? 0 : 0n;
const count = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

function runOp(op: Op, operands: readonly Tile[], env: Env, running: Running): readonly Tile[] {
  const { machine, tensors } = running;
  const [a = [], b = [], c = []] = operands;
  const type = op.results[0]?.type ?? { element: "bool" as const, shape: [] };
  const first = op.operands[0]?.type ?? type;
  const each = (f: (index: number) => ScalarValue): readonly Tile[] => [
    Array.from({ length: count(type.shape) }, (_, index) => f(index)),
  ];
  const at = (tile: Tile, index: number): ScalarValue => must(tile[index], "element");
  switch (op.name) {
    case "constant":
      return each(() => op.attrs.value);
    case "program_id":
      return each(() => BigInt(machine.programId[op.attrs.axis] ?? 0));
    case "range":
      return each((index) => BigInt(op.attrs.lo) + BigInt(index));
    case "add":
    case "sub":
    case "mul":
    case "div":
    case "rem":
    case "min":
    case "max":
    case "and":
    case "or":
    case "xor":
    case "shl":
    case "shr":
    case "lt":
    case "le":
    case "gt":
    case "ge":
    case "eq":
    case "ne": {
      const { name } = op;
      // Division by zero: any value will do, so the tests take 0.
      return each((i) =>
        evalBinary(name, nameOf(first.element), at(a, i), at(b, i)) ?? zeroOf(type.element)
      );
    }
    case "neg":
    case "not": {
      const { name } = op;
      return each((i) => must(evalUnary(name, nameOf(first.element), at(a, i)), "value"));
    }
    case "select":
      return each((i) => at(a, i) === 1n ? at(b, i) : at(c, i));
    case "convert":
      return each((i) => convertScalar(at(a, i), nameOf(type.element)));
    case "offset": {
      const size = BigInt(isPointer(type.element) ? bytesOf(type.element.pointee) : 1);
      return each((i) => BigInt.asUintN(64, BigInt(at(a, i)) + BigInt(at(b, i)) * size));
    }
    case "assume_multiple":
    case "reshape":
    case "expand_dims":
      return [a];
    case "splat":
      return each(() => at(a, 0));
    case "broadcast":
      return each((i) =>
        at(
          a,
          flatten(
            unflatten(i, type.shape).map((x, d) => first.shape[d] === 1 ? 0 : x),
            first.shape,
          ),
        )
      );
    case "slice": {
      const { axis, first: start } = op.attrs;
      return each((i) =>
        at(
          a,
          flatten(
            unflatten(i, type.shape).map((x, d) => d === axis ? x + start : x),
            first.shape,
          ),
        )
      );
    }
    case "permute": {
      const { order } = op.attrs;
      return each((i) => {
        const source = new Array<number>(order.length).fill(0);
        unflatten(i, type.shape).forEach((x, d) => source[must(order[d], "axis")] = x);
        return at(a, flatten(source, first.shape));
      });
    }
    case "load":
      return each((i) => {
        if (operands.length > 1 && at(b, i) === 0n) return c[i] ?? zeroOf(type.element);
        return machine.memory.get(BigInt(at(a, i))) ?? zeroOf(type.element);
      });
    case "tensor_load": {
      const { axes } = must(tensors[op.attrs.map], "tensor map");
      const base = BigInt(at(a, 0));
      const origins = operands.slice(1).map((tile) => BigInt(at(tile, 0)));
      return each((i) => {
        const lanes = unflatten(i, type.shape);
        let address = base;
        let next = 0;
        for (const { extent, stride, tile, run } of axes) {
          const span = tile === undefined ? 1 : must(type.shape[tile], "extent");
          const lane = tile === undefined ? 0 : lanes[tile] ?? 0;
          const length = run ?? span;
          const origin = must(origins[next + Math.floor(lane / length)], "coordinate");
          next += span / length;
          const coordinate = origin + BigInt(lane % length);
          if (coordinate < 0n || coordinate >= extent) return zeroOf(type.element);
          address += coordinate * stride;
        }
        return machine.memory.get(address) ?? zeroOf(type.element);
      });
    }
    case "dot": {
      const [, depth = 1] = first.shape;
      const columns = type.shape[1] ?? 1;
      return each((i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        let sum = Number(at(c, i));
        for (let k = 0; k < depth; k++) {
          sum += Number(at(a, row * depth + k)) * Number(at(b, k * columns + column));
        }
        return sum;
      });
    }
    case "store":
      a.forEach((address, i) => {
        if (operands.length < 3 || at(c, i) === 1n) machine.memory.set(BigInt(address), at(b, i));
      });
      return [];
    case "if":
      return runRegion(regionsOf(op)[at(a, 0) === 1n ? "then" : "otherwise"], env, running);
    case "while": {
      const { test, body } = regionsOf(op);
      for (let carried = operands;;) {
        bind(test, carried, env);
        const [go = [], ...values] = runRegion(test, env, running);
        if (at(go, 0) === 0n || machine.rounds-- <= 0) return values;
        bind(body, values, env);
        carried = runRegion(body, env, running);
      }
    }
    default:
      throw new RangeError(`the interpreter does not know ${op.name}`);
  }
}
