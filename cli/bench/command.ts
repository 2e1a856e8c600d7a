/** `tri bench`: times benchmark modules, draws recordings, compares two of them. */
import { readFileSync } from "node:fs";
import {
  addLines,
  compareRecordings,
  type Comparison,
  DEFAULT_COMPARE,
  DEFAULT_TIMING,
  parseRecording,
  type Recording,
  type Timing,
} from "../../bench/mod.ts";
import { Device } from "../../ffi/device.ts";
import { codeOf } from "../host/errors.ts";
import { TriError } from "../../ffi/errors.ts";
import { drawCharts } from "./chart.ts";
import { printComparison } from "./comparison_text.ts";
import { measureModule } from "./module.ts";
import { saveRecording } from "./save.ts";
import { printTables } from "./table.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { environmentError, EXIT, Failure, usageError } from "../failure.ts";
import type { Terminal } from "../terminal.ts";
import { jsonText } from "../json.ts";

/** The body of the command. */
export async function runBench(
  invocation: Invocation,
  { terminal }: CommandContext,
): Promise<number> {
  try {
    return await bench(invocation, terminal);
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    const [problem = error.message] = error.message.split("\nhint: ");
    throw new Failure(EXIT.environment, problem, error.hint);
  }
}

async function bench(invocation: Invocation, terminal: Terminal): Promise<number> {
  const { operands } = invocation;
  if (operands.length === 0) {
    throw usageError("tri bench needs a file", "Such as tri bench kernels/bench/transpose.ts.");
  }
  if (invocation.flag("compare")) return compare(invocation, terminal);
  const recordings = await record(invocation, terminal);
  for (const recording of recordings) {
    if (!invocation.flag("json")) {
      terminal.print(`${printTables(recording)}\n${drawCharts(recording)}\n`);
    }
    const folder = invocation.text("save");
    if (folder === undefined) continue;
    for (const path of await saveRecording(recording, folder)) terminal.say(`wrote ${path}`);
  }
  if (invocation.flag("json")) {
    terminal.print(jsonText({ ok: true, recordings }));
  }
  return EXIT.ok;
}

/** What the operands hold: recordings as they are, modules measured, each with the lines that `--with` adds. */
async function record(invocation: Invocation, terminal: Terminal): Promise<Recording[]> {
  const others = invocation.list("with").map(readRecordingFile);
  const isRecording = (path: string): boolean => path.endsWith(".json");
  const timing = timingOf(invocation);
  using device = invocation.operands.every(isRecording)
    ? undefined
    : Device.open({ notice: false });
  const recordings: Recording[] = [];
  for (const path of invocation.operands) {
    const own = device === undefined || isRecording(path)
      ? readRecordingFile(path)
      : await measureModule(path, device, {
        timing,
        date: invocation.text("date"),
        onPoint: ({ name, x: { names } }, x) =>
          terminal.progress(`${name}, ${names.join(" = ")} = ${x}`),
      });
    for (const other of others) {
      if (other.device.name === own.device.name) continue;
      terminal.say(`note: ${other.module} was recorded on ${other.device.name}`);
    }
    recordings.push(others.reduce(addLines, own));
  }
  return recordings;
}

function compare(invocation: Invocation, terminal: Terminal): number {
  const [before, after, ...more] = invocation.operands;
  if (before === undefined || after === undefined || more.length > 0) {
    throw usageError(
      "tri bench --compare takes two recordings",
      "tri bench --compare before.json after.json",
    );
  }
  const comparison: Comparison = compareRecordings(
    readRecordingFile(before),
    readRecordingFile(after),
    { ...DEFAULT_COMPARE, leastChange: numberOf(invocation, "least-change", 0) / 100 },
  );
  const slower = comparison.changes.some(({ verdict }) => verdict === "slower");
  const isFailure = slower && invocation.flag("fail-if-slower");
  terminal.print(
    invocation.flag("json")
      ? jsonText({ ok: !isFailure, ...comparison })
      : printComparison(comparison),
  );
  return isFailure ? EXIT.kernels : EXIT.ok;
}

function timingOf(invocation: Invocation): Timing {
  const rounds = numberOf(invocation, "rounds", 1);
  if (!Number.isInteger(rounds)) throw usageError(`--rounds ${rounds}: not a whole number`);
  const cache = (["hot", "cold"] as const).find((word) => word === invocation.text("cache"));
  if (cache === undefined) throw usageError(`--cache ${invocation.text("cache")}: hot or cold`);
  return { ...DEFAULT_TIMING, rounds, cache };
}

function numberOf(invocation: Invocation, name: "rounds" | "least-change", least: number): number {
  const text = invocation.text(name) ?? "";
  const value = Number(text);
  if (value >= least && value <= 10_000) return value;
  throw usageError(`--${name} ${text}: not a number from ${least} to 10000`);
}

function readRecordingFile(path: string): Recording {
  try {
    return parseRecording(readFileSync(path, "utf8"), path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      throw environmentError(`No such file: ${path}`, "tri bench --save DIR writes recordings.");
    }
    throw error;
  }
}
