import fc from "../../support/property.ts";
import { type Attrs, newOp, newUncheckedOp } from "../../../compiler/ir/func.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { CompilerBug, must } from "../../../compiler/support/bug.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";
import { randomFunc } from "../../support/compiler/random_func.ts";

const PARAMS = "%p: float32*, %n: int32, %c: bool, %f: float32, %l: int64";

function complaint(body: string): string {
  const text = `func @f(${PARAMS}) {\n${body}\n}`;
  return assertThrows(() => verifyFunc(parseFunc(text)), CompilerBug).message.split("func @")[0] ??
    "";
}

Deno.test("verifyFunc() accepts random valid functions", () => {
  fc.assert(fc.property(fc.nat(100_000), (seed) => verifyFunc(randomFunc(seed, 15))), {
    numRuns: 30,
  });
});

// One row per rule: the smallest body that breaks it, and what is said.
const REJECTED: readonly (readonly [rule: string, body: string, says: string])[] = [
  [
    "an operand of another element",
    "%1: int32 = add %n, %f\nreturn",
    "operand 1 is not of class same",
  ],
  [
    "an operand of another shape",
    "%1: int32[4] = splat %n\n%2: int32[4] = add %1, %n\nreturn",
    "operand 1 is not of class same",
  ],
  ["a pointer in arithmetic", "%1: float32* = mul %p, %p\nreturn", "operand 0 is not of class num"],
  [
    "a float in bit operations",
    "%1: float32 = and %f, %f\nreturn",
    "operand 0 is not of class int",
  ],
  ["a value as an address", "%1: float32 = load %f\nreturn", "operand 0 is not of class ptr"],
  [
    "a mask that is not bool",
    "%1: float32 = load %p, %n\nreturn",
    "operand 1 is not of class bool",
  ],
  [
    "a mask of another shape",
    "%1: bool[4] = splat %c\n%2: float32 = load %p, %1\nreturn",
    "the mask has another shape",
  ],
  [
    "a fill value of another type",
    "%1: float32 = load %p, %c, %n\nreturn",
    "the fill value has another type",
  ],
  ["too few operands", "%1: int32 = add %n\nreturn", "has 1 operands"],
  ["too many operands", "%1: int32 = neg %n, %n\nreturn", "has 2 operands"],
  ["a wrong result", "%1: int64 = add %n, %n\nreturn", "has a result of another type"],
  [
    "a comparison that is not bool",
    "%1: int32 = lt %n, %n\nreturn",
    "has a result of another type",
  ],
  [
    "a function that there is none of",
    '%1: float32 = math %f {function = "sine"}\nreturn',
    'has no function "sine"',
  ],
  [
    "a synonym of a function",
    '%1: float32 = math %f {function = "sqrt_rn"}\nreturn',
    'has no function "sqrt_rn"',
  ],
  [
    "a function of two operands with one",
    '%1: float32 = math %f {function = "pow"}\nreturn',
    'takes 2 operands for "pow"',
  ],
  ["a load of another type", "%1: int32 = load %p\nreturn", "has a result of another type"],
  ["a missing result", "add %n, %n\nreturn", "has 0 results"],
  ["a result where none is", "%1: float32 = store %p, %f\nreturn", "has 1 results"],
  ["a store of another type", "store %p, %n\nreturn", "stores another type"],
  ["a constant out of range", "%1: int8 = constant 128\nreturn", "the value is not of the type"],
  [
    "a constant that is not rounded",
    "%1: float32 = constant 0.1\nreturn",
    "the value is not of the type",
  ],
  ["an integer for a float", "%1: float32 = constant 1\nreturn", "the value is not of the type"],
  ["a fourth axis of the grid", "%1: int32 = program_id 3\nreturn", "axis is 0, 1 or 2"],
  ["a range that is a scalar", "%1: int32 = range 0\nreturn", "is a 1-D tile of integers"],
  ["an extent that is no power of two", "%1: int32[3] = splat %n\nreturn", "not a power of two"],
  [
    "a splat of a tile",
    "%1: int32[4] = splat %n\n%2: int32[4, 4] = splat %1\nreturn",
    "cannot make [4, 4] of [4]",
  ],
  [
    "a stretch of a longer axis",
    "%1: int32[2] = splat %n\n%2: int32[4] = broadcast %1\nreturn",
    "cannot make [4] of [2]",
  ],
  [
    "a new axis at the wrong place",
    "%1: int32[2] = splat %n\n%2: int32[1, 2] = expand_dims %1 {axis = 1}\nreturn",
    "cannot make [1, 2] of [2]",
  ],
  [
    "a reshape of another count",
    "%1: int32[2] = splat %n\n%2: int32[4] = reshape %1\nreturn",
    "cannot make [4] of [2]",
  ],
  [
    "a permutation that repeats an axis",
    "%1: int32[2, 2] = splat %n\n%2: int32[2, 2] = permute %1 {order = [0, 0]}\nreturn",
    "cannot make",
  ],
  ["a changed element", "%1: float32[2] = splat %n\nreturn", "changes the element type"],
  ["a bit cast of another width", "%1: int64 = bitcast %f\nreturn", "is no conversion"],
  ["a pointer as a float", "%1: float32 = convert %p\nreturn", "is no conversion"],
  ["a select of two types", "%1: float32 = select %c, %f, %n\nreturn", "sides and result differ"],
  ["an offset by a float", "%1: float32* = offset %p, %f\nreturn", "the count is not an integer"],
  [
    "a reduction of a missing axis",
    '%1: int32[2] = splat %n\n%2: int32 = reduce %1 {axis = 1, operator = "add"}\nreturn',
    "without the axis",
  ],
  [
    "a branch on a tile",
    "%1: bool[2] = splat %c\nif %1 {\nyield\n} {\nyield\n}\nreturn",
    "the condition is a tile",
  ],
  [
    "branches that yield another type",
    "%1: int32 = if %c {\nyield %n\n} {\nyield %f\n}\nreturn",
    "yields other types",
  ],
  [
    "a loop that carries another type",
    "%1: int32 = while %n (%2: int32) {\ncondition %c, %2\n} (%3: int32) {\nyield %f\n}\nreturn",
    "yields other types",
  ],
  [
    "a loop entered with another type",
    "%1: int32 = while %f (%2: int32) {\ncondition %c, %2\n} (%3: int32) {\nyield %3\n}\nreturn",
    "operands and parameters",
  ],
  ["a region without end", "if %c {\nbarrier\n} {\nyield\n}\nreturn", "the region does not end"],
  ["a function without return", "barrier", "the region does not end"],
  ["an end in the middle", "return\nreturn", "is not the last of its region"],
  ["a loop test that yields", "while {\nyield\n} {\nyield\n}\nreturn", "is no condition"],
  ["a yield of the function", "yield", "is no return"],
];

for (const [rule, body, says] of REJECTED) {
  Deno.test(`verifyFunc() rejects ${rule}`, () => assertStringIncludes(complaint(body), says));
}

Deno.test("verifyFunc() lists every violation", () => {
  const message = complaint("%1: int8 = constant 300\n%2: int32 = add %n, %f\nreturn");
  assertEquals(message.split("\n").filter((line) => line.startsWith("  ")).length, 2);
});

Deno.test("verifyFunc() rejects a use that a region hides, a second definition and a foreign operation", () => {
  const func = parseFunc(`func @f(%c: bool) {
    if %c {
      %1: int32 = constant 1
      yield
    } {
      yield
    }
    return
  }`);
  const branch = must(func.body.ops[0], "if");
  const constant = must(branch.regions[0]?.ops[0], "constant");
  const hidden = must(constant.results[0], "result");
  func.body.ops.splice(1, 0, newOp(func, "neg", [hidden], [hidden.type], branch.span), constant);
  const { message } = assertThrows(() => verifyFunc(func), CompilerBug);
  assertStringIncludes(message, `%${hidden.id} is not defined here`);
  assertStringIncludes(message, `%${hidden.id} is defined twice`);
  hidden.def = branch;
  assertThrows(() => verifyFunc(func), CompilerBug, "does not know the operation that defines it");
});

Deno.test("verifyFunc() rejects missing, unknown and ill-typed attributes", () => {
  const func = parseFunc(`func @f() {\n%1: int32 = program_id 0\nreturn\n}`);
  const { span, results } = must(func.body.ops[0], "op");
  const put = (attrs: Attrs): void => {
    const op = { ...newUncheckedOp(func, "program_id", [], [], span, attrs), results };
    for (const value of results) value.def = op;
    func.body.ops[0] = op;
  };
  put({ axis: 0.5, colour: "red" });
  const { message } = assertThrows(() => verifyFunc(func), CompilerBug);
  assertStringIncludes(message, "attribute axis is not of kind int");
  assertStringIncludes(message, "has an unknown attribute colour");
  put({});
  assertThrows(() => verifyFunc(func), CompilerBug, "lacks attribute axis");
});

/** Values that the bodies below use: a buffer with two slots, a slot, a tile and pointers. */
const BUFFER =
  `%b: float32[4] shared #s0 = shared_buffer {slots = 2, slot_bytes = 128, offset = 0, exclusive = false}
%i: int32 = constant 0
%t: float32[4] = splat %f
%q: float32*[4] = splat %p
`;

const REJECTED_BUFFERS: readonly (readonly [rule: string, body: string, says: string])[] = [
  [
    "slots smaller than the tile",
    "%1: float32[4] shared #s0 = shared_buffer {slots = 1, slot_bytes = 8, offset = 0, exclusive = false}",
    "has slots that are smaller than the tile",
  ],
  [
    "a buffer without slots",
    "%1: float32[4] shared #s0 = shared_buffer {slots = 0, slot_bytes = 16, offset = 0, exclusive = false}",
    "has no slot",
  ],
  [
    "a buffer of another shape than its layout's",
    "%1: float32[8] shared #s0 = shared_buffer {slots = 1, slot_bytes = 32, offset = 0, exclusive = false}",
    "is no buffer of its shape",
  ],
  [
    "two elements with one offset",
    "%1: float32[4] shared #s1 = shared_buffer {slots = 1, slot_bytes = 16, offset = 0, exclusive = false}",
    "does not give each element one offset",
  ],
  ["a buffer as a tile", "%1: float32[4] = neg %b", "operand 0 is not of class num"],
  [
    "a buffer that a branch results in",
    "%1: float32[4] shared #s0 = if %c {\nyield %b\n} {\nyield %b\n}",
    "operand 0 is not of class any",
  ],
  ["a tile as a buffer", "local_store %t, %t, %i", "operand 1 is not of class buffer"],
  ["a store of another type", "local_store %n, %b, %i", "stores another tile"],
  [
    "a load of another shape",
    '%1: float32[8] = local_load %b, %i {access = "vectors"}',
    "loads another tile",
  ],
  [
    "an unknown access",
    '%1: float32[4] = local_load %b, %i {access = "rows"}',
    "attribute access is not of kind access",
  ],
  [
    "a slice beyond the tile",
    '%1: float32[2] = local_load_slice %b, %i {access = "vectors", slice = 2}',
    "loads another tile",
  ],
  [
    "a copy of another element",
    "%1: int32*[4] = convert %q\nasync_copy %1, %b, %i, %c, %c {part = 0, parts = 1}",
    "copies another tile",
  ],
  [
    "rows of another shape",
    "%1: int32[4] = constant 4\n%2: bool[8] = constant 1\ncopy_rows %q, %b, %i, %c, %c, %1, %2 {axis = 0, continued = false}",
    "count or mask have another shape",
  ],
  [
    "starts of other rows",
    "%1: int32[8] = constant 4\n%2: float32[4] = local_rows %b, %i, %1 {axis = 0, continued = false}",
    "the starts have another shape",
  ],
  [
    "a part beyond the copy",
    "async_copy %q, %b, %i, %c, %c {part = 1, parts = 1}",
    "is no part of the copy",
  ],
  ["a negative number of groups", "wait_group -1", "waits for less than no group"],
];

for (const [rule, body, says] of REJECTED_BUFFERS) {
  Deno.test(`verifyFunc() rejects ${rule}`, () => {
    const text = `#s0 = [4] offset(a0 a1) vector(4)
#s1 = [4] offset(a0 a0) vector(4)
func @f(${PARAMS}) {\n${BUFFER}${body}\nreturn\n}`;
    const { message } = assertThrows(() => verifyFunc(parseFunc(text)), CompilerBug);
    assertStringIncludes(message.split("func @")[0] ?? "", says);
  });
}

const MAPPED: readonly (readonly [rule: string, maps: string, load: string, says: string])[] = [
  [
    "a map that is not there",
    "",
    "%1: float32[4] = tensor_load %p, %n {map = 0}",
    "no such tensor map",
  ],
  ["a map of no parameter", 'map(q float32 "n" "1" 0)', "", "is of no parameter with its elements"],
  ["a map of other elements", 'map(p int32 "n" "1" 0)', "", "is of no parameter with its elements"],
  [
    "one axis of a tile twice",
    'map(p float32 "n" "1" 0, "n" "n" 0)',
    "",
    "has two axes for one of the tile",
  ],
  [
    "too few coordinates",
    'map(p float32 "n" "1" 0, "n" "n" -)',
    "%1: float32[4] = tensor_load %p, %n {map = 0}",
    "has 1 coordinates",
  ],
  [
    "one coordinate for two runs",
    'map(p float32 "n" "1" 0 runs 2)',
    "%1: float32[4] = tensor_load %p, %n {map = 0}",
    "has 1 coordinates",
  ],
  [
    "one offset in windows for two runs",
    'map(p float32 "n" "1" 0 runs 2, "n" "n" 1 windows "0" "0" "1", "n" "n" -)',
    "%1: float32[4, 8] = tensor_load %p, %n, %n, %n, %n, %n {map = 0}",
    "has 5 coordinates",
  ],
  [
    "windows along some of the axes",
    'map(p float32 "n" "1" 0, "n" "n" 1 windows "0" "0" "1", "n" "n" -, "n" "n" -)',
    "",
    "has windows along some of the axes of pictures",
  ],
  [
    "windows along the last axis",
    'map(p float32 "n" "1" 0, "n" "n" 1 windows "0" "0" "1", "n" "n" - windows "0" "0" "1")',
    "",
    "has windows along the innermost or the outermost axis",
  ],
  [
    "a coordinate of 64 bits",
    'map(p float32 "n" "1" 0)',
    "%1: float32[4] = tensor_load %p, %l {map = 0}",
    "coordinates are scalars of int32",
  ],
  [
    "an axis of the tile that the map lacks",
    'map(p float32 "n" "1" 1)',
    "%1: float32[4, 2] = tensor_load %p, %n {map = 0}",
    "its map does not have each axis of the tile",
  ],
  [
    "a result of other elements",
    'map(p float32 "n" "1" 0)',
    "%1: int32[4] = tensor_load %p, %n {map = 0}",
    "the tensor is one of other elements",
  ],
];

Deno.test("verifyFunc() rejects tensor maps and loads that do not fit each other", () => {
  for (const [rule, maps, load, says] of MAPPED) {
    const params = "%p p: float32*, %n n: int32, %l l: int64";
    const func = parseFunc(`func @f(${params}) ${maps} {\n${load}\nreturn\n}`);
    const { message } = assertThrows(() => verifyFunc(func), CompilerBug);
    assertStringIncludes(message, says, rule);
  }
});

const COPIES: readonly (readonly [rule: string, map: string, op: string, says: string])[] = [
  [
    "a copy without a box",
    "",
    "tensor_copy %a, %m, %s, %s {map = 0}",
    "no such tensor map with a box",
  ],
  [
    "a copy of too few coordinates",
    " box [32] swizzle 64",
    "tensor_copy %a, %m, %s {map = 0}",
    "its map has other elements or axes",
  ],
  ["a wait at a buffer", "", "mbarrier_wait %a, %s, %s", "waits at what is no barrier"],
  ["a wait at a buffer too", "", "mbarrier_wait %m, %s, %s, %a", "waits at what is no barrier"],
  ["a slot that is a tile", "", "mbarrier_wait %m, %t, %s", "are tiles"],
  [
    "fewer bytes than none",
    "",
    "mbarrier_expect %m, %s {bytes = -1}",
    "expects less than nothing",
  ],
];

Deno.test("verifyFunc() rejects copies and waits that do not fit their barriers and maps", () => {
  for (const [rule, box, op, says] of COPIES) {
    const func = parseFunc(`#s0 = [32] offset(a0 a1 a2 a3 a4) vector(8)
#s1 = [1] offset() vector(1)
func @f(%p p: float16*, %s s: int32, %g g: bool) map(p float16 "64" "1" 0${box}) {
  %a: float16[32] shared #s0 = shared_buffer {slots = 2, slot_bytes = 64, offset = 0, exclusive = false}
  %m: uint64[1] shared #s1 = shared_buffer {slots = 2, slot_bytes = 8, offset = 128, exclusive = false}
  %t: int32[2] = splat %s
  ${op}
  return
}`);
    const { message } = assertThrows(() => verifyFunc(func), CompilerBug);
    assertStringIncludes(message, says, rule);
  }
});
