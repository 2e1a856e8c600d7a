/** Copies of helpers and loops: what long code becomes, and what is refused. */
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { sampled, testsInTurn } from "../../support/sampled.ts";
import { emulateAgain, int } from "../../support/emulate.ts";
import { compileFile } from "../../support/compile.ts";

const test = testsInTurn(3);

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

function compile(text: string): { readonly said: readonly string[]; readonly ptx: string } {
  const options = { targets: ["sm_80"], overrides: [] } as const;
  const file = { name: "k.tc", text: `#pragma tri specialize(off)\n${text}` };
  const { diagnostics, kernels } = compileFile(file, options);
  const said = diagnostics.map(({ code, message, span }) =>
    `${code} ${message}: ${span.file.text.slice(span.start, span.end)}`
  );
  return { said, ptx: kernels[0]?.modules[0]?.ptx ?? "" };
}

/** What the program leaves at Y for each n. */
function stored(text: string, ns: readonly number[]): readonly number[] {
  const { said, ptx } = compile(text);
  assertEquals(said, []);
  return ns.map((n) => {
    const y = new Int32Array(1);
    emulateAgain(ptx, { args: [y, int(n)], block: [128, 1, 1] });
    return must(y[0], "Y");
  });
}

/** Functions `f0` to the last one, each of which calls the one before, and a kernel that calls the last. */
function helpers(count: number, body: (i: number) => string): string {
  const functions = range(count).map((i) => `static int f${i}(int x) { ${body(i)} }`);
  return `${functions.join("\n")}\n__global__ void k(int *Y, int n) { *Y = f${count - 1}(n); }\n`;
}

test("buildFunc() inlines a chain of 1000 helpers", () => {
  const text = helpers(1000, (i) => i === 0 ? "return x * 3;" : `return f${i - 1}(x ^ 1) + ${i};`);
  assertEquals(stored(text, [7, 8]), [6 * 3, 9 * 3].map((value) => value + 999 * 500));
});

test("buildFunc() inlines helpers inside of expressions that are nested as deeply as they may be", () => {
  const [open, close] = ["1 + (".repeat(100), ")".repeat(100)];
  const text = helpers(60, (i) => i === 0 ? "return x;" : `return ${open}f${i - 1}(x)${close};`);
  assertEquals(stored(text, [5]), [5 + 59 * 100]);
});

test("buildFunc() inlines helpers inside of branches of helpers", () => {
  const text = helpers(
    200,
    (i) => i === 0 ? "return x;" : `if (x == ${i}) return 7; return f${i - 1}(x) + 1;`,
  );
  assertEquals(stored(text, [199, 1, 0, 500]), [7, 205, 199, 699]);
});

test("buildFunc() names the call whose copies are too many (E4030)", () => {
  const text = helpers(
    40,
    (i) => i === 0 ? "return x;" : `return f${i - 1}(x) + f${i - 1}(x + 1);`,
  );
  assertEquals(compile(text).said, [
    "E4030 inlined here, `f39` makes the kernel exceed 100000 operations: f39(n)",
  ]);
  const nothing = range(40).map((i) =>
    `static void g${i}() { ${i === 0 ? "" : `g${i - 1}(); g${i - 1}();`} }`
  );
  const empty = `${nothing.join("\n")}\n__global__ void k(int *Y) { g39(); }\n`;
  assertEquals(compile(empty).said, [
    "E4030 inlined here, `g39` makes the kernel exceed 100000 operations: g39()",
  ]);
});

Deno.test("buildFunc() counts what sort() becomes (E4030)", () => {
  const body = `float x[1024] = *(X + (0 ... 1024));\n${
    "x = sort(x, 0);\n".repeat(300)
  }*X = x[max];`;
  const [said] = compile(`__global__ void k(float *X) {\n${body}\n}\n`).said;
  assertEquals(said?.slice(0, 33), "E4030 inlined here, `sort` makes ");
});

Deno.test("buildFunc() names the outermost loop whose copies are too many (E4031)", () => {
  const loops = range(4).map((i) =>
    `#pragma tri loop unroll\nfor (int i${i} = 0; i${i} < 64; i${i}++)`
  );
  const text = `__global__ void k(int *Y, int n) {\n${loops.join("\n")} *Y += n;\n}\n`;
  assertEquals(compile(text).said, [
    "E4031 unrolled, this loop makes the kernel exceed 100000 operations: #pragma tri loop unroll",
  ]);
});

Deno.test("buildFunc() refuses branches in branches of helpers beyond a depth (E4032)", () => {
  const text = helpers(
    500,
    (i) => i === 0 ? "return x;" : `if (x > ${i}) { x = f${i - 1}(x + 1); } return x;`,
  );
  assertEquals(compile(text).said, [
    "E4032 inlined here, `f499` nests branches and loops more than 400 levels deep: f499(n)",
  ]);
});

test("buildFunc() nests branches and loops as deeply as it says", () => {
  const body = (i: number): string =>
    i % 3 === 0
      ? `for (int i = 0; i < n; i++) g${i - 1}(Y, n + i);`
      : `if (n > ${i}) { *Y = n; g${i - 1}(Y, n); }`;
  const functions = range(400).map((i) =>
    `static void g${i}(int *Y, int n) { ${i === 0 ? "*Y = n;" : body(i)} }`
  );
  const { said, ptx } = compile(
    `${functions.join("\n")}\n__global__ void k(int *Y, int n) { g399(Y, n); }\n`,
  );
  assertEquals(said, []);
  assert(ptx !== "");
});

test("unroll() keeps what a loop computes when there are many copies", () => {
  const loop = (hint: string): string =>
    `__global__ void k(int *Y, int n) { int s = 1;\n${hint}\nfor (int i = 0; i < n; i++) s = s * 3 + i;\n*Y = s; }\n`;
  const ns = [0, 1, 32, 33, 64, 65, 99, 100, 101, 250];
  const plain = stored(loop(""), ns);
  for (const copies of sampled([33, 64, 100, 1024], 1)) {
    assertEquals(stored(loop(`#pragma tri loop unroll(${copies})`), ns), plain, `${copies} copies`);
  }
});

test("withoutExits() keeps what a function returns when it has many returns", () => {
  const returns = range(300).map((i) => `if (x == ${3 * i}) return ${i} + x;`).join("\n");
  const text = helpers(2, (i) => i === 0 ? `${returns}\nreturn -1;` : "return f0(x);");
  assertEquals(stored(text, [0, 3, 96, 99, 450, 897, 898, 900]), [
    0,
    4,
    128,
    132,
    600,
    1196,
    -1,
    -1,
  ]);
});

Deno.test("withoutExits() keeps what a loop does that has many breaks and continues", () => {
  const ways = range(150).map((i) =>
    i % 2 === 0 ? `if (i == ${i} && n == ${i}) break;` : `if ((i & 255) == ${i}) continue;\ns += 1;`
  );
  const text = `__global__ void k(int *Y, int n) { int s = 0; for (int i = 0; i < 300; i++) {\n${
    ways.join("\n")
  }\n}\n*Y = s; }\n`;
  const expected = [-1, 0, 2, 80, 148].map((n) => {
    let s = 0;
    loop: for (let i = 0; i < 300; i++) {
      for (let way = 0; way < 150; way++) {
        if (way % 2 === 0 && i === way && n === way) break loop;
        if (way % 2 === 1) {
          if ((i & 255) === way) continue loop;
          s++;
        }
      }
    }
    return s;
  });
  assertEquals(stored(text, [-1, 0, 2, 80, 148]), expected);
});

test("withoutExits() keeps what loops one after the other return", () => {
  const loops = range(80).map((i) =>
    `for (int j = 0; j < 3; j++) { if (x == ${i} + j) return ${i} * 10 + j; }`
  );
  const text = helpers(2, (i) => i === 0 ? `${loops.join("\n")}\nreturn -1;` : "return f0(x);");
  assertEquals(stored(text, [0, 1, 2, 3, 40, 81, 82]), [0, 1, 2, 12, 382, 792, -1]);
});
