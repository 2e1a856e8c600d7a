/** `printf` and `assert` on a GPU, in processes of their own (calls_child.ts). */
import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { gpuTest } from "../support/gpu.ts";

interface Said {
  readonly code: number;
  readonly lines: readonly string[];
  readonly problems: string;
}

async function run(...args: readonly string[]): Promise<Said> {
  const script = new URL("calls_child.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", script, ...args],
  }).output();
  const text = new TextDecoder();
  return {
    code,
    lines: text.decode(stdout).trimEnd().split("\n").toSorted(),
    problems: text.decode(stderr),
  };
}

const printed = (n: number): string[] => {
  const line = `${n} ${BigInt(n) << 40n} 1.5 50.000000 %`;
  const elements = [0, 1, 2, 3].map((i) => `[${i}] ${i * n}`);
  return [line, line, ...elements].toSorted();
};

gpuTest(
  "lowerPrint() prints scalars once per program and each element of a tile once",
  async () => {
    const { code, lines } = await run("5", "debug");
    assertEquals({ code, lines }, { code: 0, lines: printed(5) });
  },
);

gpuTest("lowerCheck() ends a launch of a debug build with CUDA_ERROR_ASSERT", async () => {
  const { code, problems } = await run("61", "debug");
  assertEquals(code, 3);
  assertStringIncludes(problems, "r + n < 64: small");
  assertStringIncludes(problems, "CUDA_ERROR_ASSERT");
  assertStringIncludes(problems, "`assert` or `assume`");
});

gpuTest("withoutChecks() keeps checks out of what a GPU runs otherwise", async () => {
  const { code, lines } = await run("61");
  assertEquals({ code, lines }, { code: 0, lines: printed(61) });
});
