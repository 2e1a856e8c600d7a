/** Everything that the page asks the worker, by name: one row a question, plain data in and out. */
import type { Triple } from "../../emulator/debug/debug_launch.ts";
import type { Look, Place } from "../../cli/report/look.ts";
import type { Trace } from "../../cli/report/trace.ts";
import { choicesOf } from "./choices.ts";
import { problemsOf } from "./check.ts";
import { contractsOf } from "./contract.ts";
import { candidatesAt, hintAt } from "./help.ts";
import type { Call, NotRun, Ran } from "./run.ts";
import type { Judged } from "../puzzles/judge.ts";
import type { Program } from "./program.ts";
import { stagesOf } from "./stages.ts";
import { tilesOf } from "./instance.ts";
import { wordsOfLanguage } from "./words.ts";

/** Questions and their answers. */
const QUESTIONS = {
  words: wordsOfLanguage,
  choices: choicesOf,
  problems: problemsOf,
  hint: hintAt,
  candidates: candidatesAt,
  stages: stagesOf,
  tiles: tilesOf,
  contracts: contractsOf,
  run: async (program: Program, call: Call): Promise<Ran | NotRun> =>
    (await import("./run.ts")).run(program, call),
  trace: async (program: Program, call: Call, focus: Triple): Promise<Trace | NotRun> =>
    (await import("./trace.ts")).traceOf(program, call, focus),
  judge: async (program: Program, call: Call, puzzle: string): Promise<Judged> =>
    (await import("../puzzles/judge.ts")).judge(program, call, puzzle),
  look: async (program: Program, call: Call, place: Place): Promise<Look | NotRun> =>
    (await import("./look.ts")).lookInto(program, call, place),
} as const;

/** The table of questions. */
export type Questions = typeof QUESTIONS;

/** A question on its way to the worker. */
export interface Question {
  readonly id: number;
  readonly name: keyof Questions;
  readonly args: readonly unknown[];
}

/** Its answer, or the text of a defect. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly defect: string };

/** Answers a question; a defect of ours becomes text. */
export async function answer({ id, name, args }: Question): Promise<Answer> {
  try {
    // The caller's types are those of the table: `client.ts` is the only one who asks.
    const ask: (...args: readonly never[]) => unknown = QUESTIONS[name];
    return { id, value: await ask(...args as readonly never[]) };
  } catch (error) {
    return { id, defect: error instanceof Error ? error.message : String(error) };
  }
}
