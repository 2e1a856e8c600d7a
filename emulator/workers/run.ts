/** Runs jobs in a thread of the host that helps. */
import { inlineCalls } from "../../compiler/ptx/inline.ts";
import { parsePtx } from "../../compiler/ptx/parse.ts";
import { accessOf, beginLaunch } from "../access/state.ts";
import { receiveLaunch } from "../check/launch.ts";
import { anyCheck } from "../check/levels.ts";
import { compileKernel } from "../compile/mod.ts";
import type { Program } from "../compile/program.ts";
import { kernelSymbols, kernelVariables } from "../compile/symbols.ts";
import { factsOf, Fault } from "../fault.ts";
import { type Host, newHost } from "../host.ts";
import { viewsOf } from "../memory.ts";
import { reportOf } from "../report.ts";
import { runGrid, type Slot } from "../schedule/grid.ts";
import { withOrigin } from "../schedule/fault_origin.ts";
import { makeSlot, poisonShared, slotShape } from "../schedule/slot.ts";
import { CONTROL, type Job, type Result } from "./job.ts";
import { writeResult } from "./pool.ts";

interface Compiled {
  readonly program: Program;
  readonly localBytes: number;
}

/** Takes jobs one after the other. */
export class Helper {
  #host: Host | undefined;
  #memory: WebAssembly.Memory | undefined;
  /** Programs by what they depend on. */
  readonly #programs = new Map<string, Compiled>();

  /** Takes part in a launch unless it is closed already. */
  run(job: Job): void {
    const { control } = job;
    // The launch does not wait for a thread that still compiles.
    if (Atomics.load(control, CONTROL.closed) === 0) this.#prepare(job);
    Atomics.add(control, CONTROL.active, 1);
    try {
      if (Atomics.load(control, CONTROL.closed) === 0) writeResult(job.result, this.#work(job));
    } finally {
      Atomics.sub(control, CONTROL.active, 1);
      Atomics.notify(control, CONTROL.active);
    }
  }

  #prepare(job: Job): void {
    try {
      this.#program(job);
    } catch {
      // It fails again as soon as the thread takes part, if it ever does.
    }
  }

  #work(job: Job): Result {
    const { machine } = this.#hostFor(job);
    try {
      return { kind: "report", report: this.#runBlocks(job) };
    } catch (error) {
      Atomics.store(job.control, CONTROL.closed, 1);
      const found = withOrigin(error, machine, job.kernel);
      if (!(found instanceof Fault)) return { kind: "error", message: String(found) };
      return { kind: "fault", fault: factsOf(found) };
    }
  }

  #hostFor({ memory }: Job): Host {
    if (this.#host === undefined || this.#memory !== memory) {
      this.#host = newHost(memory);
      this.#memory = memory;
      this.#programs.clear();
    }
    return this.#host;
  }

  #runBlocks(job: Job): ReturnType<typeof reportOf> {
    const { program, localBytes } = this.#program(job);
    const { machine } = this.#hostFor(job);
    const { control, clusters, launch, counts } = job;
    beginLaunch(machine, receiveLaunch(job.access));
    const { u8 } = machine.views;
    u8.fill(0, counts, counts + 16 * program.blocks.length);
    const shape = slotShape(launch, program.layout.bytes, localBytes);
    const free = job.slots.map((start): Slot => makeSlot(u8, start, shape, program.layout));
    const result = runGrid({
      program,
      machine,
      launch,
      budget: job.budget,
      next: () => {
        if (Atomics.load(control, CONTROL.closed) !== 0) return undefined;
        const next = Atomics.add(control, CONTROL.next, 1);
        return next < clusters ? next : undefined;
      },
      acquire: () => {
        const slot = free.pop();
        if (slot !== undefined) poisonShared(u8, slot, shape);
        return slot;
      },
      release: (slot) => {
        free.push(slot);
      },
    });
    return reportOf(program, machine, result, accessOf(machine));
  }

  /** The program of a job; sets the machine up for it. */
  #program(job: Job): Compiled {
    const { machine, meters } = this.#hostFor(job);
    machine.views = viewsOf(job.memory);
    const { levels } = job.access;
    const checks = machine.checks = anyCheck(levels);
    machine.profile = job.profile;
    const unassigned = levels.uninitialized !== "off";
    const locations = JSON.stringify([...job.locations]);
    const key = [
      checks,
      unassigned,
      job.profile,
      job.parameters,
      job.counts,
      locations,
      job.kernel,
      job.text,
    ].join("\n");
    const known = this.#programs.get(key);
    if (known !== undefined) return known;
    const module = inlineCalls(parsePtx(job.text));
    const kernel = module.kernels.find(({ name }) => name === job.kernel);
    if (kernel === undefined) throw new RangeError(`the module has no kernel ${job.kernel}`);
    const variables = kernelVariables(kernel, module);
    const program = compileKernel({
      machine,
      module,
      kernel,
      symbols: kernelSymbols(variables, job.locations, job.parameters),
      unassigned,
      meters,
      counts: () => job.counts,
    });
    const compiled = { program, localBytes: variables.localBytes };
    this.#programs.set(key, compiled);
    return compiled;
  }
}
