/** Tile IR of small kernels, for tests of inference. */

const INDICES = `
  %10: int32 = program_id 0
  %11: int32 = constant 64
  %12: int32 = mul %10, %11
  %13: int32[64] = range 0
  %14: int32[64] = splat %12
  %15 rm: int32[64] = add %14, %13
  %20: int32 = program_id 1
  %21: int32 = constant 32
  %22: int32 = mul %20, %21
  %23: int32[32] = range 0
  %24: int32[32] = splat %22
  %25 rn: int32[32] = add %24, %23
  %30: int32[64, 1] = expand_dims %15 {axis = 1}
  %31: int32[64, 1] = splat %4
  %32: int32[64, 1] = mul %30, %31
  %33: int32[64, 32] = broadcast %32
  %34: int32[1, 32] = expand_dims %25 {axis = 0}
  %35: int32[64, 32] = broadcast %34
  %36: float32*[64, 32] = splat %0
  %37: float32*[64, 32] = offset %36, %33
  %38: float32*[64, 32] = offset %37, %35
  %40: int32[1, 64] = expand_dims %15 {axis = 0}
  %41: int32[32, 64] = broadcast %40
  %42: int32[32, 1] = expand_dims %25 {axis = 1}
  %43: int32[32, 1] = splat %5
  %44: int32[32, 1] = mul %42, %43
  %45: int32[32, 64] = broadcast %44
  %46: float32*[32, 64] = splat %1
  %47: float32*[32, 64] = offset %46, %41
  %48: float32*[32, 64] = offset %47, %45`;

const HEAD =
  "func @transpose(%0 X: float32*, %1 Y: float32*, %2 M: int32, %3 N: int32, %4 ldx: int32, %5 ldy: int32) {";

/** The transposition of the tutorials with tiles of 64 × 32, without masks. */
export const PLAIN_TRANSPOSE = `${HEAD}${INDICES}
  %50: float32[64, 32] = load %38 {modifiers = []}
  %51: float32[32, 64] = permute %50 {order = [1, 0]}
  store %48, %51 {modifiers = []}
  return
}
`;

/** The same with its bounds checks. */
export const MASKED_TRANSPOSE = `${HEAD}${INDICES}
  %60: int32[64, 1] = splat %2
  %61: bool[64, 1] = lt %30, %60
  %62: bool[64, 32] = broadcast %61
  %63: int32[1, 32] = splat %3
  %64: bool[1, 32] = lt %34, %63
  %65: bool[64, 32] = broadcast %64
  %66: bool[64, 32] = and %62, %65
  %67: bool[32, 64] = permute %66 {order = [1, 0]}
  %50: float32[64, 32] = load %38, %66 {modifiers = []}
  %51: float32[32, 64] = permute %50 {order = [1, 0]}
  store %48, %51, %67 {modifiers = []}
  return
}
`;

/** One axis of a random kernel: `stride * (tile * pid + lane)`, bounded or not. */
export interface AxisSpec {
  readonly tileLog2: number;
  /** A parameter, or a constant. */
  readonly stride: "s0" | "s1" | number;
  /** `index < n` and such, against the parameter n0 or n1; the last one is two masks. */
  readonly mask: "none" | "lt" | "le" | "gt-swapped" | "window";
}

/** A store of ones through two axes: lane axis a of the tile is axis a of the spec. */
export function storeKernel(axes: readonly [AxisSpec, AxisSpec], constant: number): string {
  const shape = axes.map(({ tileLog2 }) => 2 ** tileLog2);
  const full = `[${shape.join(", ")}]`;
  const lines: string[] = [];
  let next = 10;
  const def = (type: string, op: string): string => {
    const name = `%${next++}`;
    lines.push(`  ${name}: ${type} = ${op}`);
    return name;
  };
  const params: Readonly<Record<string, string>> = { s0: "%1", s1: "%2", n0: "%3", n1: "%4" };
  const param = (name: string): string => params[name] ?? "%1";
  const offsets: string[] = [];
  const masks: string[] = [];
  axes.forEach(({ stride, mask }, axis) => {
    const extent = shape[axis] ?? 1;
    const pid = def("int32", `program_id ${axis}`);
    const start = def("int32", `mul ${pid}, ${def("int32", `constant ${extent}`)}`);
    const index = def(
      `int32[${extent}]`,
      `add ${def(`int32[${extent}]`, `splat ${start}`)}, ${def(`int32[${extent}]`, "range 0")}`,
    );
    const column = axis === 0 ? `[${extent}, 1]` : `[1, ${extent}]`;
    const wide = def(`int32${column}`, `expand_dims ${index} {axis = ${1 - axis}}`);
    const by = typeof stride === "number" ? def("int32", `constant ${stride}`) : param(stride);
    const scaled = def(`int32${column}`, `mul ${wide}, ${def(`int32${column}`, `splat ${by}`)}`);
    offsets.push(def(`int32${full}`, `broadcast ${scaled}`));
    const bound = def(`int32${column}`, `splat ${param(`n${axis}`)}`);
    const compare = (op: string): void => {
      masks.push(def(`bool${full}`, `broadcast ${def(`bool${column}`, op)}`));
    };
    if (mask === "lt" || mask === "window") compare(`lt ${wide}, ${bound}`);
    if (mask === "le") compare(`le ${wide}, ${bound}`);
    if (mask === "gt-swapped") compare(`gt ${bound}, ${wide}`);
    if (mask === "window") {
      compare(`ge ${wide}, ${def(`int32${column}`, `splat ${def("int32", "constant 2")}`)}`);
    }
  });
  const base = def(`float32*${full}`, "splat %0");
  const moved = offsets.reduce(
    (pointer, offset) => def(`float32*${full}`, `offset ${pointer}, ${offset}`),
    base,
  );
  const shifted = def(
    `float32*${full}`,
    `offset ${moved}, ${def(`int32${full}`, `constant ${constant}`)}`,
  );
  const value = def(`float32${full}`, "constant 1.0");
  const mask = masks.length === 0
    ? ""
    : `, ${masks.reduce((a, b) => def(`bool${full}`, `and ${a}, ${b}`))}`;
  lines.push(`  store ${shifted}, ${value}${mask} {modifiers = []}`, "  return");
  return `func @k(%0 P: float32*, %1 s0: int32, %2 s1: int32, %3 n0: int32, %4 n1: int32) {\n${
    lines.join("\n")
  }\n}\n`;
}
