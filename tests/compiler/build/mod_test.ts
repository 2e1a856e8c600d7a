import { buildFunc, type BuildOptions } from "../../../compiler/build/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import type {
  TypedHelper,
  TypedKernel,
  TypedStmt,
  Variable,
} from "../../../compiler/check/tree/typed.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assertEquals } from "../../support/assert.ts";
import * as t from "../../support/compiler/typed.ts";

function build(kernel: TypedKernel, options: BuildOptions = {}): string {
  const func = must(buildFunc(kernel, options, new Reporter()), "function");
  verifyFunc(func);
  return printFunc(func);
}

const vars = new t.Variables();
const x = vars.make("x", t.pointerTo("int32"));
const n = vars.make("n", t.INT);
const m = vars.make("m", t.INT);
const PARAMS = [t.param(x), t.param(n), t.param(m)];
const [X, N, M] = [t.use(x), t.use(n), t.use(m)] as const;

/** The body of a kernel of x, n and m, as the text between the braces. */
function body(...stmts: readonly TypedStmt[]): string {
  return build(t.kernel(PARAMS, stmts)).split("\n").slice(1, -3).map((line) => line.slice(2)).join(
    "\n",
  );
}

Deno.test("buildFunc() makes parameters with the facts of their attributes and of the instance", () => {
  const k = t.kernel([
    t.param(x, { aligned: 8, noalias: true }),
    t.param(n, { multipleof: 6 }),
    t.param(m, {}),
  ], []);
  const assumptions = new Map([["x", { multipleof: 16, readonly: true }], ["n", {
    multipleof: 16,
  }]]);
  assertEquals(
    build(k, { assumptions }),
    "func @k(%0 x: int32* {multipleof = 16, noalias, readonly}, %1 n: int32 {multipleof = 48}, %2 m: int32) {\n  return\n}\n",
  );
});

Deno.test("buildFunc() stretches scalars as splats, and shorter shapes by new axes and broadcast", () => {
  const r = vars.make("r", t.tile(t.INT, 4));
  const range = { kind: "range", lo: 2n, hi: 6n, type: t.tile(t.INT, 4), span: t.SPAN } as const;
  assertEquals(
    body(
      t.declare(r, range),
      t.statement(t.broadcast(N, t.tile(t.INT, 8, 4))),
      t.statement(t.broadcast(t.use(r), t.tile(t.INT, 8, 4))),
      t.statement(t.broadcast(t.use(r), t.tile(t.INT, 1, 4))),
    ),
    `\
%3 r: int32[4] = range 2
%4: int32[8, 4] = splat %1
%5: int32[1, 4] = expand_dims %3 {axis = 0}
%6: int32[8, 4] = broadcast %5
%7: int32[1, 4] = expand_dims %3 {axis = 0}`,
  );
});

Deno.test("buildFunc() makes newaxis an expand_dims, and other reshapes a reshape", () => {
  const r = vars.make("r", t.tile(t.INT, 4));
  const range = { kind: "range", lo: 0n, hi: 4n, type: t.tile(t.INT, 4), span: t.SPAN } as const;
  assertEquals(
    body(
      t.declare(r, range),
      t.statement(t.reshape(t.use(r), t.tile(t.INT, 1, 4, 1))),
      t.statement(t.reshape(t.use(r), t.tile(t.INT, 2, 2))),
      t.statement(t.reshape(t.reshape(N, t.tile(t.INT, 1)), t.INT)),
    ),
    `\
%3 r: int32[4] = range 0
%4: int32[1, 4] = expand_dims %3 {axis = 0}
%5: int32[1, 4, 1] = expand_dims %4 {axis = 2}
%6: int32[2, 2] = reshape %3
%7: int32[1] = splat %1
%8: int32 = reshape %7`,
  );
});

Deno.test("buildFunc() evaluates a stored value before pointer and mask", () => {
  assertEquals(
    body(t.store(t.offset(X, N), t.binary("add", N, M), t.less(N, M))),
    `\
%3: int32 = add %1, %2
%4: int32* = offset %0, %1
%5: bool = lt %1, %2
store %4, %3, %5`,
  );
});

Deno.test("buildFunc() marks accesses through volatile pointers", () => {
  const v = vars.make("v", t.pointerTo("int32", true));
  const k = t.kernel([t.param(v)], [t.store(t.use(v), t.load(t.use(v), t.INT))]);
  assertEquals(
    build(k).split("\n").slice(1, 3),
    [
      '  %1: int32 = load %0 {modifiers = ["volatile"]}',
      '  store %0, %1 {modifiers = ["volatile"]}',
    ],
  );
});

Deno.test("buildFunc() emits assume_multiple for attributes of locals", () => {
  const a = vars.make("a", t.INT);
  const promised: TypedStmt = {
    kind: "declare",
    variable: a,
    value: N,
    multipleof: 8,
    span: t.SPAN,
  };
  assertEquals(body(promised), "%3 a: int32 = assume_multiple %1 {n = 8}");
});

Deno.test("buildFunc() limits a shift count of a wider type before it narrows it", () => {
  const long = t.scalar("int64");
  const count: t.Valued = { kind: "convert", operand: M, type: long, span: t.SPAN };
  assertEquals(
    body(t.statement(t.binary("shl", N, count))),
    `\
%3: int64 = convert %2
%4: uint64 = constant 32
%5: uint64 = convert %3
%6: uint64 = min %5, %4
%7: int32 = convert %6
%8: int32 = shl %1, %7`,
  );
});

Deno.test("buildFunc() gives the variables an if assigns as its results, and keeps the outer value of others", () => {
  const [a, inner] = [vars.make("a", t.INT), vars.make("a", t.INT)];
  assertEquals(
    body(
      t.declare(a),
      t.when(t.less(N, M), [t.set(a, N), t.declare(inner, M), t.set(inner, N)]),
      t.store(X, t.use(a)),
    ),
    `\
%3 a: int32 = constant 0
%4: bool = lt %1, %2
%5 a: int32 = if %4 {
  yield %1
} {
  yield %3
}
store %0, %5`,
  );
});

Deno.test("buildFunc() builds only the side that a constant condition leaves", () => {
  const atomic: TypedStmt = t.statement({
    kind: "builtin",
    name: "atomic_add",
    args: [X, N],
    options: [],
    type: t.INT,
    span: t.SPAN,
  });
  assertEquals(body(t.when(t.constant(0n, t.BOOL), [atomic], [t.store(X, N)])), "store %0, %1");
});

const loop = (
  testFirst: boolean,
  i: Variable,
  stmts: readonly TypedStmt[],
): TypedStmt => ({
  kind: "loop",
  init: [t.declare(i, t.constant(0n))],
  condition: t.less(t.use(i), N),
  ...(testFirst ? { step: t.assign(i, t.binary("add", t.use(i), M)) } : {}),
  body: stmts,
  testFirst,
  hints: [],
  span: t.SPAN,
});

Deno.test("buildFunc() carries what a for loop assigns, not what its body declares", () => {
  const [i, sum, inner] = [
    vars.make("i", t.INT),
    vars.make("sum", t.INT),
    vars.make("inner", t.INT),
  ];
  assertEquals(
    body(
      t.declare(sum, t.constant(0n)),
      loop(true, i, [
        t.declare(inner, t.use(i)),
        t.set(inner, N),
        t.set(sum, t.binary("add", t.use(sum), t.use(inner))),
      ]),
      t.store(X, t.use(sum)),
    ),
    `\
%3 sum: int32 = constant 0
%4 i: int32 = constant 0
%5 sum: int32, %6 i: int32 = while %3, %4 (%7 sum: int32, %8 i: int32) {
  %9: bool = lt %8, %1
  condition %9, %7, %8
} (%10 sum: int32, %11 i: int32) {
  %12 sum: int32 = add %10, %1
  %13 i: int32 = add %11, %2
  yield %12, %13
}
store %0, %5`,
  );
});

Deno.test("buildFunc() runs the body of a do loop before its test", () => {
  const i = vars.make("i", t.INT);
  assertEquals(
    body(loop(false, i, [t.set(i, t.binary("add", t.use(i), M))]), t.store(X, t.use(i))),
    `\
%3 i: int32 = constant 0
%4 i: int32 = while %3 (%5 i: int32) {
  %6 i: int32 = add %5, %2
  %7: bool = lt %6, %1
  condition %7, %6
} (%8 i: int32) {
  yield %8
}
store %0, %4`,
  );
});

Deno.test("buildFunc() selects between cheap sides and branches for loads and assignments", () => {
  const a = vars.make("a", t.INT);
  const choose = (then: t.Valued): TypedStmt =>
    t.store(X, {
      kind: "conditional",
      condition: t.less(N, M),
      then,
      else: M,
      type: t.INT,
      span: t.SPAN,
    });
  assertEquals(
    body(
      t.declare(a, N),
      choose(t.binary("add", N, M)),
      choose(t.assign(a, t.load(X, t.INT))),
      t.store(X, t.use(a)),
    ),
    `\
%3: bool = lt %1, %2
%4: int32 = add %1, %2
%5: int32 = select %3, %4, %2
store %0, %5
%6: bool = lt %1, %2
%7: int32, %8 a: int32 = if %6 {
  %9 a: int32 = load %0
  yield %9, %9
} {
  yield %2, %1
}
store %0, %7
store %0, %8`,
  );
});

Deno.test("buildFunc() evaluates a let once", () => {
  const p = vars.make("pointer", x.type);
  const compound = (operand: t.Valued): t.Valued => ({
    kind: "let",
    variable: p,
    value: t.offset(X, N),
    body: t.storeExpr(t.use(p), t.binary("add", t.load(t.use(p), t.INT), operand)),
    type: t.INT,
    span: t.SPAN,
  });
  assertEquals(
    body(t.statement(compound(M))),
    `\
%3: int32* = offset %0, %1
%4: int32 = load %3
%5: int32 = add %4, %2
store %3, %5`,
  );
});

Deno.test("buildFunc() inlines a helper with its own variables at each call", () => {
  const [a, local] = [vars.make("a", t.INT), vars.make("local", t.INT)];
  const helper: TypedHelper = {
    name: "largest",
    params: [a],
    result: t.INT,
    body: [
      t.declare(local, t.binary("mul", t.use(a), t.use(a))),
      t.when(t.less(t.use(a), t.use(local)), [t.leave(t.use(local))]),
      t.set(a, t.binary("sub", t.use(a), t.use(local))),
      t.leave(t.use(a)),
    ],
    span: t.SPAN,
  };
  const call = (arg: t.Valued): t.Valued => ({
    kind: "call",
    helper,
    args: [arg],
    type: t.INT,
    span: t.SPAN,
  });
  assertEquals(
    body(t.store(X, call(call(N)))),
    `\
%3 result: int32 = constant 0
%4 local: int32 = mul %1, %1
%5: bool = lt %1, %4
%6 result: int32, %7 a: int32 = if %5 {
  yield %4, %1
} {
  %8 a: int32 = sub %1, %4
  yield %8, %8
}
%9 result: int32 = constant 0
%10 local: int32 = mul %6, %6
%11: bool = lt %6, %10
%12 result: int32, %13 a: int32 = if %11 {
  yield %10, %6
} {
  %14 a: int32 = sub %6, %10
  yield %14, %14
}
store %0, %12`,
  );
});

Deno.test("buildFunc() puts what follows a guarded return into the other branch", () => {
  assertEquals(
    body(
      t.when(t.less(N, M), [t.leave()]),
      t.store(X, N),
      t.when(t.less(M, N), [t.store(X, M)], [t.leave()]),
      t.store(X, N),
    ),
    `\
%3: bool = lt %1, %2
if %3 {
  yield
} {
  store %0, %1
  %4: bool = lt %2, %1
  if %4 {
    store %0, %2
    store %0, %1
    yield
  } {
    yield
  }
  yield
}`,
  );
});

Deno.test("buildFunc() ends at a return, whatever follows", () => {
  assertEquals(body(t.store(X, N), t.leave(), t.store(X, M)), "store %0, %1");
});

Deno.test("buildFunc() tests at the end of a loop with a break whether it continues", () => {
  const i = vars.make("i", t.INT);
  const leave: TypedStmt = { kind: "break", span: t.SPAN };
  assertEquals(
    body(loop(true, i, [t.when(t.less(N, t.use(i)), [leave]), t.store(X, t.use(i))])),
    `\
%3 i: int32 = constant 0
%4 i: int32 = while %3 (%5 i: int32) {
  %6 go: bool = lt %5, %1
  %7 go: bool, %8 i: int32 = if %6 {
    %9: bool = lt %1, %5
    %10 go: bool, %11 i: int32 = if %9 {
      %12 go: bool = constant 0
      yield %12, %5
    } {
      store %0, %5
      %13 i: int32 = add %5, %2
      yield %6, %13
    }
    yield %10, %11
  } {
    yield %6, %5
  }
  condition %7, %8
} (%14 i: int32) {
  yield %14
}`,
  );
});

Deno.test("buildFunc() guards what follows a continue by the other branch", () => {
  const i = vars.make("i", t.INT);
  const next: TypedStmt = { kind: "continue", span: t.SPAN };
  assertEquals(
    body(loop(true, i, [t.when(t.less(N, t.use(i)), [next]), t.store(X, t.use(i))])),
    `\
%3 i: int32 = constant 0
%4 i: int32 = while %3 (%5 i: int32) {
  %6: bool = lt %5, %1
  condition %6, %5
} (%7 i: int32) {
  %8: bool = lt %1, %7
  if %8 {
    yield
  } {
    store %0, %7
    yield
  }
  %9 i: int32 = add %7, %2
  yield %9
}`,
  );
});

Deno.test("buildFunc() lets a flag skip what follows a branch that returned in part", () => {
  const nested = t.when(t.less(N, M), [t.when(t.less(M, N), [t.leave()])]);
  assertEquals(
    body(nested, t.store(X, N)),
    `\
%3 skip: bool = constant 0
%4: bool = lt %1, %2
%5 skip: bool = if %4 {
  %6: bool = lt %2, %1
  %7 skip: bool = if %6 {
    %8 skip: bool = constant 1
    yield %8
  } {
    yield %3
  }
  yield %7
} {
  yield %3
}
if %5 {
  yield
} {
  store %0, %1
  yield
}`,
  );
});

Deno.test("buildFunc() tests after a loop whether it has returned", () => {
  const i = vars.make("i", t.INT);
  assertEquals(
    body(loop(false, i, [t.when(t.less(N, t.use(i)), [t.leave()])]), t.store(X, N)),
    `\
%3 returned: bool = constant 0
%4 i: int32 = constant 0
%5 returned: bool = while %3 (%6 returned: bool) {
  %7 go: bool = constant 1
  %8: bool = lt %1, %4
  %9 returned: bool, %10 go: bool = if %8 {
    %11 returned: bool = constant 1
    %12 go: bool = constant 0
    yield %11, %12
  } {
    %13 go: bool = lt %4, %1
    yield %6, %13
  }
  condition %10, %9
} (%14 returned: bool) {
  yield %14
}
if %5 {
  yield
} {
  store %0, %1
  yield
}`,
  );
});
