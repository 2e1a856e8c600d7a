/** Runs programs of the machine to their end. */
import { assertEquals } from "../assert.ts";

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs a program; both outputs together. */
export async function run(cwd: string, program: string, ...args: string[]): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    env: { NO_COLOR: "1" },
  })
    .output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Runs a program that has to end with 0. */
export async function must0(cwd: string, program: string, ...args: string[]): Promise<void> {
  const { code, output } = await run(cwd, program, ...args);
  assertEquals(code, 0, `${program} ${args.join(" ")}\n${output}`);
}
