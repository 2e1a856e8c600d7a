/** Checks of the host arrays that callers pass in. */
import { type DType, dtypeOf, DTYPES } from "./dtype.ts";
import { ArgumentError } from "./errors.ts";

/** The element type that data is for: the one named, or else the typed array's own. */
export function checkData(data: unknown, dtype: DType | undefined): DType {
  const natural = dtypeOf(data);
  const wanted = dtype === undefined ? "a typed array" : `${DTYPES[dtype].array.name} for ${dtype}`;
  if (natural === undefined) {
    throw new ArgumentError({ argument: "data", expected: wanted, actual: kindOf(data) });
  }
  if (dtype === undefined) return natural;
  const { array } = DTYPES[natural];
  if (array === DTYPES[dtype].array) return dtype;
  throw new ArgumentError({ argument: "data", expected: wanted, actual: array.name });
}

function kindOf(value: unknown): string {
  if (value === null || typeof value !== "object") return `${value}`;
  return value.constructor?.name ?? "an object";
}
