/** Where entries wait for earlier grids, judged by walking all paths of the result. */
import type { Item } from "../../../compiler/ptx/func.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { printInstruction } from "../../../compiler/ptx/print.ts";
import { waitForGrids } from "../../../compiler/ptx/wait_for_grids.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { freshRandom } from "../../support/random.ts";
import { shipped } from "../../support/shipped.ts";

const WAIT = "griddepcontrol.wait;";

function bodyOf(statements: string): readonly Item[] {
  const text =
    `.version 8.0\n.target sm_90\n.entry k(.param .u64 p) { .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>; ${statements} }`;
  return must(parsePtx(text).kernels[0], "kernel").body;
}

const print = (item: Item): string =>
  item.kind === "instruction"
    ? printInstruction(item)
    : item.kind === "label"
    ? `${item.name}:`
    : item.kind;

const waiting = (statements: string): string[] => waitForGrids(bodyOf(statements)).map(print);

/** What may touch memory of the device; in these bodies all other spaces are named. */
const ACCESS = /^(?:ld|st|atom|red|cp\.async|prefetch)\b(?!\.(?:param|shared|const|tensormap))/;
const IDLE = /^cp\.async\.(?:wait|commit)/;

/** Walks all paths: each waits once, before accesses and before it ends. */
function assertWaits(body: readonly Item[]): void {
  const lines = body.map(print);
  const labels = new Map(lines.map((line, index) => [line.replace(/:$/, ""), index]));
  const seen = new Set<string>();
  const paths: [number, boolean][] = [[0, false]];
  const fail = (line: string, what: string): never => {
    throw new Error(`${line} ${what} in\n${lines.join("\n")}`);
  };
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const [at, waited] = path;
    const line = lines[at];
    if (seen.has(path.join()) || line === undefined) continue;
    seen.add(path.join());
    const guarded = line.startsWith("@");
    const bare = line.replace(/^@!?%p\d+ /, "");
    if (bare === WAIT) {
      if (waited || guarded) fail(line, "twice or for some");
      paths.push([at + 1, true]);
      continue;
    }
    if (ACCESS.test(bare) && !IDLE.test(bare) && !waited) fail(line, "before the wait");
    const branch = /^bra(?:\.uni)? (\w+);$/.exec(bare);
    if (branch !== null) paths.push([labels.get(branch[1] ?? "") ?? -1, waited]);
    if (bare === "ret;") {
      if (!waited) fail(line, "without a wait");
      if (!guarded) continue;
    }
    if (branch === null || guarded) paths.push([at + 1, waited]);
  }
}

Deno.test("waitForGrids() waits behind what computes addresses and makes barriers", () => {
  const before = [
    "ld.param.b64 %rd1, [p];",
    "mov.u32 %r1, %tid.x;",
    "mbarrier.init.shared::cta.b64 [%r1], 1;",
    "prefetch.tensormap [%rd1];",
    "st.shared.b32 [%r1], %r1;",
    "bar.sync 0;",
  ];
  for (
    const access of [
      "ld.global.b32 %r2, [%rd1];",
      "ld.global.nc.b32 %r2, [%rd1];",
      "ld.b32 %r2, [%rd1];",
      "st.global.b32 [%rd1], %r1;",
      "red.global.add.u32 [%rd1], %r1;",
      "prefetch.global.L2 [%rd1];",
      "cp.async.cg.shared.global [%r1], [%rd1], 16;",
      "@%p1 ret;",
    ]
  ) {
    assertEquals(waiting([...before, access, "ret;"].join("\n")), [
      ...before,
      WAIT,
      access,
      "ret;",
    ]);
  }
  assertEquals(waiting("mov.u32 %r1, %tid.x; ret;"), ["mov.u32 %r1, %tid.x;", WAIT, "ret;"]);
});

Deno.test("waitForGrids() waits where all threads come once", () => {
  assertEquals(
    waiting(`setp.eq.u32 %p1, %r1, 0; @!%p1 bra A; st.shared.b32 [%r1], %r1; A: mov.b32 %r2, 0;
      B: add.s32 %r2, %r2, 1; @%p2 bra C; ld.global.b32 %r3, [%rd1]; C: @%p1 bra B; ret;`),
    [
      "setp.eq.u32 %p1, %r1, 0;",
      "@!%p1 bra A;",
      "st.shared.b32 [%r1], %r1;",
      "A:",
      "mov.b32 %r2, 0;",
      WAIT,
      "B:",
      "add.s32 %r2, %r2, 1;",
      "@%p2 bra C;",
      "ld.global.b32 %r3, [%rd1];",
      "C:",
      "@%p1 bra B;",
      "ret;",
    ],
  );
});

Deno.test("waitForGrids() does not wait within a check, which may be removed", () => {
  const check = [
    { kind: "comment", text: "check" },
    ...bodyOf("setp.eq.u32 %p1, %r1, 0; @%p1 bra A; trap; A:"),
    { kind: "comment", text: "end of check" },
    ...bodyOf("ret;"),
  ] as const;
  assertEquals(print(must(waitForGrids(check)[0], "item")), WAIT);
});

Deno.test("waitForGrids() is right for any control flow", () => {
  const random = freshRandom();
  const statements = [
    "add.s32 %r1, %r1, 1;",
    "ld.shared.b32 %r1, [%r2];",
    "bar.sync 0;",
    "ld.global.b32 %r1, [%rd1];",
    "@%p1 st.global.b32 [%rd1], %r1;",
    "@%p2 ret;",
  ];
  for (let round = 0; round < 300; round++) {
    const labels = 1 + random.below(4);
    const body: string[] = Array.from({ length: 3 + random.below(16) }, () => {
      const [branch, label] = [random.below(4) === 0, random.below(labels)];
      if (!branch) return statements[random.below(statements.length)] ?? "";
      return random.below(5) === 0 ? `bra.uni L${label};` : `@%p1 bra L${label};`;
    });
    for (let label = 0; label < labels; label++) {
      body.splice(random.below(body.length + 1), 0, `L${label}:`);
    }
    assertWaits(waitForGrids(bodyOf([...body, "ret;"].join("\n"))));
  }
});

Deno.test("kernels for sm_90a wait before they access memory, unless a form starts late", () => {
  for (const name of ["matmul", "softmax", "attention_varlen", "decode"]) {
    const { kernels } = compileFile(shipped(`${name}.tc`), {
      targets: ["sm_80", "sm_90a"],
      include: shipped,
    });
    assert(kernels.length > 0, name);
    for (const { modules } of kernels) {
      for (const { target, ptx, entries } of modules) {
        const late = entries.flatMap(({ forms = [] }) => forms)
          .filter(({ startsLate }) => startsLate).map(({ symbol }) => symbol);
        for (const kernel of parsePtx(ptx).kernels) {
          if (target === "sm_90a" && !late.includes(kernel.name)) assertWaits(kernel.body);
          else assert(!kernel.body.map(print).includes(WAIT), kernel.name);
        }
      }
    }
  }
});
