/** NVIDIA's assembler as an independent judge of PTX, where it is installed. */
import { type DeclareTest, testsInTurn } from "../sampled.ts";

const found = tryPtxas();

function tryPtxas(): boolean {
  try {
    return new Deno.Command("ptxas", { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

/** What ptxas refuses, by line of the text; empty when it assembles. Line 0 holds what has none. */
export async function assemblyErrors(text: string, target: string): Promise<Map<number, string>> {
  const file = await Deno.makeTempFile({ suffix: ".ptx" });
  try {
    await Deno.writeTextFile(file, text);
    const args = [`-arch=${target}`, "-O0", file, "-o", "/dev/null"];
    const { success, stderr } = await new Deno.Command("ptxas", { args }).output();
    const log = new TextDecoder().decode(stderr);
    const errors = new Map<number, string>();
    for (const [, line, message] of log.matchAll(/line (\d+); (?:error|fatal)\s*: (.*)/g)) {
      errors.set(Number(line), message ?? "");
    }
    if (!success && errors.size === 0) {
      errors.set(0, log.split("\n").filter((line) => !/warning|info/.test(line)).join("\n").trim());
    }
    return errors;
  } finally {
    await Deno.remove(file);
  }
}

/** What ptxas says of optimised code that makes it slow: spills, and `wgmma` that it serialises (C7510 and up). */
export async function assemblyNotes(text: string, target: string): Promise<readonly string[]> {
  const file = await Deno.makeTempFile({ suffix: ".ptx" });
  try {
    await Deno.writeTextFile(file, text);
    const args = ["-v", `-arch=${target}`, file, "-o", "/dev/null"];
    const { stderr } = await new Deno.Command("ptxas", { args }).output();
    const isSlow = (line: string): boolean =>
      /error|fatal|C75\d\d/.test(line) || /[1-9]\d* bytes spill/.test(line);
    return new TextDecoder().decode(stderr).split("\n").filter(isSlow);
  } finally {
    await Deno.remove(file);
  }
}

/** A test that needs ptxas, declared by `test`; without ptxas it is skipped and its title says so. */
export function ptxasTest(
  title: string,
  body: () => Promise<void>,
  test: DeclareTest = testsInTurn(1),
): void {
  test(title, body, found ? undefined : "no ptxas");
}
