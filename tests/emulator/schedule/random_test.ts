/** Random programs with branches and loops: what a warp computes together is what each thread computes alone. */
import fc from "../../support/property.ts";
import { assertEquals } from "../../support/assert.ts";
import { emulate, kernelText } from "../../support/emulate.ts";

const REGISTERS = 6;
const THREADS = 96;

type Operation = "add" | "sub" | "mul" | "xor" | "min" | "max";

type Statement =
  | {
    readonly kind: "set";
    readonly operation: Operation;
    readonly to: number;
    readonly a: number;
    readonly b: number | { readonly literal: number };
  }
  /** If bit `bit` of register `of` is set. */
  | {
    readonly kind: "if";
    readonly of: number;
    readonly bit: number;
    readonly then: readonly Statement[];
    readonly otherwise: readonly Statement[];
  }
  /** As often as the low bits of register `of` say; left early if the body makes register `of` odd. */
  | { readonly kind: "loop"; readonly of: number; readonly body: readonly Statement[] }
  /** The sum of register `of` over the warp would need all lanes: here the lane's own value comes back. */
  | { readonly kind: "exchange"; readonly to: number; readonly of: number };

const OPERATIONS: Readonly<Record<Operation, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => Math.imul(a, b),
  xor: (a, b) => a ^ b,
  min: Math.min,
  max: Math.max,
};
const SPELLINGS: Readonly<Record<Operation, string>> = {
  add: "add.u32",
  sub: "sub.u32",
  mul: "mul.lo.u32",
  xor: "xor.b32",
  min: "min.u32",
  max: "max.u32",
};

const register = fc.nat(REGISTERS - 1);
const bodies = fc.letrec<{ statement: Statement; body: Statement[] }>((tie) => ({
  body: fc.array(tie("statement"), { maxLength: 4 }),
  statement: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({
      kind: fc.constant("set" as const),
      operation: fc.constantFrom<Operation>("add", "sub", "mul", "xor", "min", "max"),
      to: register,
      a: register,
      b: fc.oneof(register, fc.record({ literal: fc.integer({ min: 0, max: 2 ** 31 - 1 }) })),
    }),
    fc.record({ kind: fc.constant("exchange" as const), to: register, of: register }),
    fc.record({
      kind: fc.constant("if" as const),
      of: register,
      bit: fc.nat(31),
      then: tie("body"),
      otherwise: tie("body"),
    }),
    fc.record({ kind: fc.constant("loop" as const), of: register, body: tie("body") }),
  ),
}));

/** Runs statements for one thread. */
function interpret(statements: readonly Statement[], r: Uint32Array): void {
  for (const s of statements) {
    switch (s.kind) {
      case "set": {
        const b = typeof s.b === "number" ? r[s.b] ?? 0 : s.b.literal;
        r[s.to] = OPERATIONS[s.operation](r[s.a] ?? 0, b);
        break;
      }
      case "exchange":
        r[s.to] = r[s.of] ?? 0;
        break;
      case "if":
        interpret(((r[s.of] ?? 0) >>> s.bit) & 1 ? s.then : s.otherwise, r);
        break;
      case "loop":
        for (let count = (r[s.of] ?? 0) & 3; count > 0; count--) {
          interpret(s.body, r);
          if ((r[s.of] ?? 0) & 1) break;
        }
        break;
    }
  }
}

/** The same as PTX. */
function print(statements: readonly Statement[], lines: string[], next: { label: number }): void {
  for (const s of statements) {
    switch (s.kind) {
      case "set": {
        const b = typeof s.b === "number" ? `%r${s.b}` : `${s.b.literal}`;
        lines.push(`${SPELLINGS[s.operation]} %r${s.to}, %r${s.a}, ${b};`);
        break;
      }
      case "exchange":
        // Each lane is a group of its own, wherever the others are.
        lines.push(`shfl.sync.idx.b32 %r${s.to}, %r${s.of}, %lane, 31, %own;`);
        break;
      case "if": {
        const label = next.label++;
        lines.push(`bfe.u32 %t, %r${s.of}, ${s.bit}, 1; setp.eq.u32 %p, %t, 0; @%p bra E${label};`);
        print(s.then, lines, next);
        lines.push(`bra J${label};`, `E${label}:`);
        print(s.otherwise, lines, next);
        lines.push(`J${label}:`);
        break;
      }
      case "loop": {
        const label = next.label++;
        lines.push(`.reg .b32 %c${label}; and.b32 %c${label}, %r${s.of}, 3;`, `L${label}:`);
        lines.push(`setp.eq.u32 %p, %c${label}, 0; @%p bra O${label};`);
        print(s.body, lines, next);
        lines.push(`and.b32 %t, %r${s.of}, 1; setp.ne.u32 %p, %t, 0; @%p bra O${label};`);
        lines.push(`sub.u32 %c${label}, %c${label}, 1; bra L${label};`, `O${label}:`);
        break;
      }
    }
  }
}

function ptxOf(statements: readonly Statement[]): string {
  const lines: string[] = [];
  print(statements, lines, { label: 0 });
  const each = (text: (i: number) => string): string =>
    Array.from({ length: REGISTERS }, (_, i) => text(i)).join("\n");
  return kernelText(`
  .reg .b32 %r<${REGISTERS}>; .reg .b32 %t, %thread, %lane, %own; .reg .b64 %rd<4>; .reg .pred %p;
  mov.u32 %thread, %tid.x; mov.u32 %lane, %laneid; mov.u32 %own, %lanemask_eq;
  ld.param.u64 %rd0, [p0]; mul.wide.u32 %rd1, %thread, ${4 * REGISTERS}; add.s64 %rd2, %rd0, %rd1;
  ${each((i) => `ld.global.u32 %r${i}, [%rd2+${4 * i}];`)}
  ${lines.join("\n  ")}
  ${each((i) => `st.global.u32 [%rd2+${4 * i}], %r${i};`)}
  ret;`);
}

Deno.test("runGrid() computes for each thread of a warp what it would compute alone", () => {
  const inputs = fc.uint32Array({
    minLength: REGISTERS * THREADS,
    maxLength: REGISTERS * THREADS,
  });
  const program = bodies.body.filter((body) => body.length > 0);
  fc.assert(
    fc.property(program, inputs, (statements, input) => {
      const expected = input.slice();
      for (let t = 0; t < THREADS; t++) {
        interpret(statements, expected.subarray(t * REGISTERS, (t + 1) * REGISTERS));
      }
      const actual = input.slice();
      emulate(ptxOf(statements), { args: [actual], block: [THREADS, 1, 1] });
      assertEquals(actual, expected);
    }),
    { numRuns: Number(Deno.env.get("TRI_RUNS") ?? 60) },
  );
});
