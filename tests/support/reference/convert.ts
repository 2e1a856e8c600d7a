/** Conversions of single elements by value and by bits (language.md, 5.13 and section 9). */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import {
  boolean,
  type Cell,
  exact,
  type FloatCell,
  type IntCell,
  isExact,
  NotInterpreted,
  NULL,
  rounded,
  UNKNOWN_FLOAT,
  UNKNOWN_INT,
  wrap,
} from "./cell.ts";
import {
  type FloatName,
  fromBits,
  isFloatName,
  precisionOf,
  roundInteger,
  roundTo,
  toBits,
} from "./formats.ts";

export function convertCell(
  cell: Cell,
  from: ScalarName | "pointer",
  to: ScalarName | "pointer",
): Cell {
  if (to === "pointer") {
    if (cell.kind === "pointer") return cell;
    if (cell.kind === "int" && cell.known && cell.value === 0n) return NULL;
    throw new NotInterpreted("an address from an integer");
  }
  if (cell.kind === "pointer") {
    if (to !== "bool") throw new NotInterpreted("an integer from an address");
    return cell.known ? boolean(cell.memory !== undefined) : UNKNOWN_INT;
  }
  if (cell.kind === "int") return fromInt(cell, to);
  if (from === "pointer" || !isFloatName(from)) throw new TypeError(`a float of type ${from}`);
  return isFloatName(to) ? toFloat(cell, from, to) : toInt(cell, to);
}

function fromInt(cell: IntCell, to: ScalarName): Cell {
  if (!isFloatName(to)) {
    if (!cell.known) return cell;
    return to === "bool" ? boolean(cell.value !== 0n) : wrap(cell.value, to);
  }
  return cell.known ? exact(roundInteger(cell.value, to)) : UNKNOWN_FLOAT;
}

function toFloat(cell: FloatCell, from: FloatName, to: FloatName): FloatCell {
  if (isExact(cell)) return exact(roundTo(cell.value, to));
  if (cell.error === Infinity) return UNKNOWN_FLOAT;
  // A wider type keeps what the kernel has, whatever it is.
  const widens = precisionOf(to) >= precisionOf(from) && !SATURATING.has(to);
  if (widens && from !== "bfloat16") return { ...cell, slack: 0 };
  return rounded(cell.value, cell.error, to);
}

const SATURATING: ReadonlySet<FloatName> = new Set(["float8e4", "float8e5"]);

/** Truncates and saturates; NaN gives 0. */
function toInt(cell: FloatCell, to: ScalarName): IntCell {
  if (cell.error === Infinity) return UNKNOWN_INT;
  if (to === "bool") {
    if (isExact(cell)) return boolean(cell.value !== 0);
    return Math.abs(cell.value) > cell.error ? boolean(true) : UNKNOWN_INT;
  }
  const low = truncate(cell.value - cell.error, to);
  const high = truncate(cell.value + cell.error, to);
  return low.value === high.value ? low : UNKNOWN_INT;
}

function truncate(value: number, to: ScalarName): IntCell {
  if (Number.isNaN(value)) return wrap(0n, to);
  const { bits, signed } = SCALARS[to];
  const high = (1n << BigInt(bits - (signed ? 1 : 0))) - 1n;
  const low = signed ? -high - 1n : 0n;
  if (value >= Number(high)) return wrap(high, to);
  if (value <= Number(low)) return wrap(low, to);
  return wrap(BigInt(Math.trunc(value)), to);
}

/** The same bits in another type of equal width. The bits of a NaN are not defined. */
export function bitcastCell(cell: Cell, from: ScalarName, to: ScalarName): Cell {
  if (cell.kind === "pointer") throw new NotInterpreted("bits of an address");
  const open = isFloatName(to) ? UNKNOWN_FLOAT : UNKNOWN_INT;
  if (cell.kind === "float") {
    const bits = isExact(cell) && isFloatName(from) ? toBits(cell.value, from) : undefined;
    if (isFloatName(to)) {
      return from === to ? cell : bits === undefined ? open : exact(fromBits(bits, to));
    }
    return bits === undefined ? open : wrap(bits, to);
  }
  if (!cell.known) return open;
  const bits = BigInt.asUintN(SCALARS[from].bits, cell.value);
  return isFloatName(to) ? exact(fromBits(bits, to)) : wrap(bits, to);
}
