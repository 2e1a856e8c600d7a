/** What `tri inspect` does with passes: `--after`, `--time`, and going on from tile IR in a file. */
import { readFileSync } from "node:fs";
import type { CompileClock, StepTime } from "../../compiler/options.ts";
import { must } from "../../compiler/support/bug.ts";
import { didYouMean } from "../words/did_you_mean.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT, usageError } from "../failure.ts";
import type { Compiler } from "../tools/toolchain.ts";
import { codeOf } from "../host/errors.ts";
import { selectTargets } from "../project/targets.ts";
import { printTimes } from "../report/times.ts";

/** Before the first pass, and after every pass. */
const OTHERS: readonly (string | undefined)[] = ["build", "*"];

/** `--after`, which must name a pass; undefined: not given. */
export function passAfter(
  invocation: Invocation,
  { passNames }: Pick<Compiler, "passNames">,
): string | undefined {
  const name = invocation.text("after");
  if (name === undefined || OTHERS.includes(name) || passNames.includes(name)) return name;
  throw usageError(
    `--after ${name}: there is no such pass`,
    didYouMean(name, passNames) ??
      `Passes: ${passNames.join(", ")}; build: before them; '*': after each.`,
  );
}

/** A clock that remembers what took how long. */
export class StepTimes implements CompileClock {
  readonly #times: StepTime[] = [];
  readonly now = (): number => performance.now();
  readonly spent = (time: StepTime): void => {
    this.#times.push(time);
  };

  text(): string {
    return printTimes(this.#times);
  }
}

/** Whether an operand is tile IR rather than a source. */
export const isIrFile = (name: string | undefined): name is string =>
  name?.endsWith(".ir") ?? false;

/** `tri inspect FILE.ir`. */
export async function inspectIrFile(
  path: string,
  invocation: Invocation,
  { terminal, toolchain }: CommandContext,
): Promise<number> {
  const phase = invocation.flag("stage") ? invocation.text("stage") : undefined;
  if (phase !== undefined && phase !== "ptx") {
    throw usageError(
      `--stage ${phase} is not for a FILE.ir`,
      "Take --stage ptx, --after PASS or --passes LIST.",
    );
  }
  const compiler = await toolchain.compiler();
  const after = passAfter(invocation, compiler);
  const passes = invocation.text("passes")?.split(",").map((name) => name.trim());
  if (passes !== undefined && after !== undefined) {
    throw usageError("--passes and --after exclude each other");
  }
  const file = { name: path, text: readText(path) };
  const times = invocation.flag("time") ? new StepTimes() : undefined;
  const [first] = await selectTargets(invocation.list("arch"));
  const target = must(first, "an architecture");
  const made = compiler.inspectIr(file, {
    result: passes === undefined || phase === "ptx" ? "ptx" : "ir",
    ...(passes === undefined ? {} : { passes }),
    ...(after === undefined ? {} : { after }),
    ...(invocation.flag("arch") ? { target } : {}),
    defaultTarget: target,
    ...(times === undefined ? {} : { clock: times }),
  });
  if (typeof made !== "string") throw usageError(made.mistake);
  terminal.print(times === undefined ? made : times.text());
  return EXIT.ok;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw usageError(`There is no file ${path}`);
    throw error;
  }
}
