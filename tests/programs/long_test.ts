/**
 * Long and deep programs compile and compute what they say, or a limit refuses them; nothing else comes of them.
 * `TRI_LONG=500 deno test -A tests/programs/long_test.ts` runs more of them, `TRI_SEED=…` the same ones again.
 */
import { compileFile } from "../../compiler/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { emulate, int } from "../support/emulate.ts";
import { longProgram, TILE } from "../support/generate/long.ts";
import { freshRandom } from "../support/random.ts";
import { SEED } from "../support/seed.ts";

const COUNT = Number(Deno.env.get("TRI_LONG") ?? 12);
/** Statements of a piece. */
const MOST = Number(Deno.env.get("TRI_LONG_SIZE") ?? 300);

/** Limits on what is copied, and on instructions. */
const LIMITS: ReadonlySet<string> = new Set(["E4030", "E4031", "E4032", "E7011"]);

Deno.test("compileFile() gives long and deep programs their meaning, or names a limit", () => {
  const random = freshRandom();
  const counts = { equal: 0, refused: 0 };
  for (let i = 0; i < COUNT; i++) {
    const { shape, text, run } = longProgram(random, MOST);
    const title =
      `TRI_SEED=${SEED} TRI_LONG=${COUNT} TRI_LONG_SIZE=${MOST}, program ${i} (${shape})`;
    try {
      const { diagnostics, kernels } = compileFile({ name: "k.tc", text }, { targets: ["sm_80"] });
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      if (errors.length > 0) {
        const others = errors.filter(({ code }) => !LIMITS.has(code));
        assertEquals(others.map(({ code, message }) => `${code} ${message}`), []);
        counts.refused++;
        continue;
      }
      const { ptx } = must(kernels[0]?.modules[0], "a module");
      for (const n of [3, 100]) {
        const y = new Int32Array(2 + TILE);
        emulate(ptx, { args: [y, int(n)], block: [128, 1, 1] });
        assertEquals(y, run(n), `n is ${n}`);
      }
      counts.equal++;
    } catch (error) {
      throw new Error(`${title}\n${text.slice(0, 2000)}`, { cause: error });
    }
  }
  assert(counts.equal >= COUNT / 2, JSON.stringify(counts));
  // deno-lint-ignore no-console -- whoever asks for many wants to know how many said something
  if (Deno.env.has("TRI_LONG")) console.log(JSON.stringify(counts));
});
