/** Tuning at run time: times the configurations that a wrapper ships, takes the fastest from then on, and can save it. */
import { LaunchError } from "../../errors.ts";
import { own } from "../../arguments/options.ts";
import type { Stream } from "../../stream.ts";
import type { Alternative, Alternatives } from "../call/calls.ts";
import { expectFileUrl, saveTimings } from "./save_timings.ts";
import { type Timing, withDriver } from "./tune_file.ts";
import type { TuneOptions, TuneResult } from "../types.ts";

/** What a graph should take at least, so that what starts and ends it does not count. */
const GRAPH_MILLISECONDS = 1;
const MOST_LAUNCHES = 200;
const ROUNDS = 7;

/** Times all configurations in turns; the median of the rounds counts. The kernel runs many times on the arguments. */
export async function tune<Name extends string>(
  alternatives: Alternatives<Name>,
  options: TuneOptions,
): Promise<TuneResult> {
  const save = own(options, "save");
  if (save !== undefined) expectFileUrl(save);
  const { kernel, variant, choice, target, key, stream, launches } = alternatives;
  const { info } = stream.device;
  const runners = await timeInTurns(launches, stream);
  const timings = runners.map(({ alternative: { config, index }, rounds }) => ({
    config,
    index,
    microseconds: Number(median(rounds).toPrecision(4)),
  })).toSorted((a, b) => a.microseconds - b.microseconds || a.index - b.index);
  const [best] = timings;
  if (best === undefined) throw new LaunchError(`Cannot tune ${kernel}: no configuration fits`);
  const microseconds = choice.instances.map((_, index) =>
    timings.find((timing) => timing.index === index)?.microseconds ?? null
  );
  choice.learn(info, target, { at: key, microseconds });
  const values = new Map<string, number>(choice.key.map((name, axis) => [name, key[axis] ?? 0]));
  if (save !== undefined) {
    const { specialization } = choice.facts;
    saveTimings(
      save,
      { gpu: info.name, arch: info.arch, kernel, variant, specialization, key: values },
      withDriver(
        Object.fromEntries(timings.map(({ config, microseconds }): [string, Timing] => [
          config,
          { microseconds, rounds: ROUNDS, code: "" },
        ])),
        info.driverVersion,
      ),
    );
  }
  return {
    gpu: info.name,
    key: Object.fromEntries(values),
    best: best.config,
    timings: timings.map(({ config, microseconds }) => ({ config, microseconds })),
  };
}

/** Node 20 has neither `using` nor `DisposableStack`. */
async function timeInTurns(launches: readonly Alternative[], stream: Stream): Promise<Runner[]> {
  const made: Disposable[] = [];
  try {
    const runners: Runner[] = [];
    for (const one of launches) runners.push(await startRunner(one, stream, made));
    for (let i = 0; i < ROUNDS; i++) for (const runner of runners) await runRound(runner);
    return runners;
  } finally {
    for (const one of made.toReversed()) one[Symbol.dispose]();
  }
}

interface Runner {
  readonly alternative: Alternative;
  readonly time: () => Promise<number>;
  /** Microseconds of a launch. */
  readonly rounds: number[];
}

/** Launches once, then records as many launches as can be timed. */
async function startRunner(
  alternative: Alternative,
  stream: Stream,
  made: Disposable[],
): Promise<Runner> {
  const [start, end] = [stream.device.event(), stream.device.event()];
  made.push(start, end);
  const timerOf = (launches: number): () => Promise<number> => {
    const graph = stream.capture(() => {
      for (let i = 0; i < launches; i++) alternative.launch();
    });
    made.push(graph);
    return async () => {
      start.record(stream);
      graph.launch(stream);
      end.record(stream);
      await end.finished();
      return end.millisecondsSince(start) * 1000 / launches;
    };
  };
  alternative.launch();
  const once = await timerOf(1)() / 1000;
  const wanted = Math.ceil(GRAPH_MILLISECONDS / Math.max(once, 1e-6));
  return { alternative, time: timerOf(Math.min(wanted, MOST_LAUNCHES)), rounds: [] };
}

async function runRound({ time, rounds }: Runner): Promise<void> {
  rounds.push(await time());
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
