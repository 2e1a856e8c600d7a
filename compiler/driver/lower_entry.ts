/** A function after the phase `tile` to the PTX of one entry: the passes for its target, then emission. */
import type { Func } from "../ir/func.ts";
import { printFunc } from "../ir/print.ts";
import { persistenceOf } from "../ir/program_loop.ts";
import { cloneFunc, holds, walkOps } from "../ir/walk.ts";
import type { Requirement } from "../contract/types.ts";
import { emitEntry, type EmittedEntry } from "../lower/mod.ts";
import type { ShiftDemands } from "../layout/rows/alignment.ts";
import { shiftRows, toShiftedForm } from "../layout/rows/shifted_rows.ts";
import type { Homes } from "../lower/homes.ts";
import type { FileTable } from "../lower/source_locations.ts";
import { Unsupported } from "../lower/unsupported.ts";
import type { Persistence, TensorMapPlan } from "../options.ts";
import type { PtxKernel } from "../ptx/func.ts";
import { printModule } from "../ptx/print.ts";
import { requiredVersion } from "../ptx/version.ts";
import { tensorMapPlans } from "../schedule/warp_groups/tensor_maps.ts";
import { registersOfRows } from "../schedule/stage_rows.ts";
import { DEFAULT_FLOATS } from "../support/float_options.ts";
import { ALL_TARGETS, type Target, type TargetName, traceTarget } from "../targets.ts";
import type { Form, TargetContext } from "../tile/pass.ts";
import { tensorViews, toTensorForm } from "../views/tensor_views.ts";
import { type FasterForm, formName } from "./entry_names.ts";
import { warpsOfRows } from "./form_warps.ts";
import { checkClusters } from "./limits/clusters.ts";
import type { EntryOptions } from "./entry_options.ts";
import { printHeader } from "./inspect/ir_text.ts";
import { PassFailure } from "./passes/pass_failure.ts";
import { lastStepOf, PASS_NAMES, TARGET_STEPS } from "./passes/passes.ts";
import { shiftDemands } from "./shift_demands.ts";
import { ringDemands } from "./ring_demands.ts";
import { turnDemands } from "./turn_demands.ts";
import {
  type Passed,
  type PassRun,
  type PassWatch,
  runPasses,
  timed,
} from "./passes/run_passes.ts";

/** How a function becomes an entry, on any target. */
export interface EntryLowering extends Partial<EntryOptions> {
  readonly numWarps: number;
  /** Blocks of a program; one if absent. */
  readonly numCtas?: number;
  /** Entry name in the module. */
  readonly symbol: string;
  /** Checks are part of the program, not only for those who do not leave them out (`ptx/checks.ts`). */
  readonly debug?: boolean;
  readonly watch?: PassWatch;
}

/** How a function becomes an entry for a target. */
export interface TargetLowering extends EntryLowering {
  readonly target: Target;
  /** `plain` if absent. */
  readonly form?: Form;
  /** Files of the module, if its instructions shall say where they come from. */
  readonly files?: FileTable;
  /** Called with where elements are, for someone who wants to look at them. */
  readonly onHomes?: (homes: Homes) => void;
  /** See {@linkcode LoweredForm}. */
  readonly startsLate?: boolean;
}

export interface LoweredEntry extends EmittedEntry {
  /** With the directives for its target. */
  readonly kernel: PtxKernel;
  /** Another target has the same code; only directives are its own. */
  readonly sameAnswers: (other: Target) => boolean;
  /** What was emitted. */
  readonly func: Func;
}

/** An entry after the passes for a target. */
export interface PassedEntry {
  readonly passed: Passed;
  /** Passes for another target lead to the same. */
  readonly sameAnswers: (other: Target) => boolean;
}

/** Runs the passes on a copy of the function. Throws {@linkcode Unsupported} for what the target has no room for. */
export function passEntry(source: Func, lowering: TargetLowering): PassedEntry {
  const { view, sameAnswers } = traceTarget(lowering.target);
  checkClusters(source, view, lowering.numCtas ?? 1);
  return { passed: runTargetPasses(source, { ...lowering, target: view }), sameAnswers };
}

/** Emits an entry after its passes, which may have been those of a target that is asked for the same. */
export function emitLowered(entry: PassedEntry, lowering: TargetLowering): LoweredEntry {
  const { view, sameAnswers } = traceTarget(lowering.target);
  const emitted = emitPassed(entry.passed, { ...lowering, target: view });
  const directives = emitted.directivesOn(lowering.target);
  return {
    ...emitted,
    kernel: { ...emitted.kernel, directives },
    sameAnswers: (other) => entry.sameAnswers(other) && sameAnswers(other),
    func: entry.passed.func,
  };
}

/** Lowers one function for one target. Throws {@linkcode Unsupported} for what the target has no room for. */
export function lowerEntry(source: Func, lowering: TargetLowering): LoweredEntry {
  return emitLowered(passEntry(source, lowering), lowering);
}

/** A faster form of an entry. */
export interface LoweredForm {
  readonly lowered: LoweredEntry;
  readonly when: readonly Requirement[];
  readonly maps: readonly TensorMapPlan[];
  readonly persistent: Persistence | undefined;
  /**
   * Launches of chains begin when what is before them has ended: one takes long, so an early start gains little, and
   * their loops fill the caches of instructions: one more in front of them, and attention took 2 % longer.
   */
  readonly startsLate: boolean;
}

/**
 * The form of an entry whose operands come by tensor copies, `tensor` if no other one is asked for; undefined where its
 * loads or the target do not allow it.
 */
export function lowerTensorForm(
  source: Func,
  lowering: TargetLowering,
): { readonly form: LoweredForm | undefined; readonly sameAnswers: LoweredEntry["sameAnswers"] } {
  const { view: target, sameAnswers } = traceTarget(lowering.target);
  return {
    sameAnswers,
    form: tensorForm(source, { form: "tensor", ...lowering, target }, sameAnswers),
  };
}

/** All forms of an entry, those for fewer launches first. */
export interface LoweredForms {
  readonly forms: readonly LoweredForm[];
  /** Of the program. */
  readonly numWarps: number;
  readonly sameAnswers: LoweredEntry["sameAnswers"];
}

/** Makes all forms of an entry, with other warps than its own where it has none with these. */
export function lowerForms(source: Func, lowering: TargetLowering): LoweredForms {
  const own = formsOf(source, lowering);
  const otherwise = own.forms.length > 0 ? undefined : withWarpsOfRows(source, lowering);
  if (otherwise === undefined) return own;
  const other = formsOf(source, otherwise);
  return {
    ...other,
    sameAnswers: (target) => own.sameAnswers(target) && other.sameAnswers(target),
  };
}

/** The same with the warps that the rows of its dots take; undefined if these are its own. */
export function withWarpsOfRows(
  source: Func,
  lowering: TargetLowering,
): TargetLowering | undefined {
  const numWarps = warpsOfRows(source);
  return numWarps === undefined || numWarps === lowering.numWarps
    ? undefined
    : { ...lowering, numWarps };
}

function formsOf(source: Func, lowering: TargetLowering): LoweredForms {
  const { numWarps } = lowering;
  const as = (form: FasterForm): TargetLowering => ({
    ...lowering,
    form,
    symbol: formName(lowering.symbol, form),
  });
  if (!hasDots(source)) {
    const passing = lowerRingForm(source, as("ring"));
    const shifted = lowerShiftedForm(source, as("shifted"));
    const forms = [passing, shifted].flatMap(({ form }) => form === undefined ? [] : [form]);
    return {
      forms,
      numWarps,
      sameAnswers: (other) => passing.sameAnswers(other) && shifted.sameAnswers(other),
    };
  }
  const make = (form: FasterForm): ReturnType<typeof lowerTensorForm> =>
    lowerTensorForm(source, as(form));
  const tensor = make("tensor");
  const { form: found, sameAnswers } = tensor;
  if (found === undefined) return { forms: [], numWarps, sameAnswers };
  if (!hasChain(found.lowered.func)) return { forms: [found], numWarps, sameAnswers };
  const turns = make("turns");
  return {
    forms: turns.form === undefined ? [found] : [turns.form, found],
    numWarps,
    sameAnswers: (other) => sameAnswers(other) && turns.sameAnswers(other),
  };
}

/** Whether dots of warp groups take what others have led to. */
function hasChain({ body }: Func): boolean {
  let isFound = false;
  walkOps(body, (op) => {
    isFound ||= op.name === "register_group_dot" && op.attrs.in_steps !== true;
  });
  return isFound;
}

/** The form whose rows are accessed by aligned vectors, wherever they start; undefined where there are none. */
export function lowerShiftedForm(
  source: Func,
  lowering: TargetLowering,
): { readonly form: LoweredForm | undefined; readonly sameAnswers: LoweredEntry["sameAnswers"] } {
  const { view: target, sameAnswers } = traceTarget(lowering.target);
  // Timed on an H200 alone.
  const form = target.clusters
    ? shiftedForm(source, { ...lowering, target }, sameAnswers)
    : undefined;
  return { form, sameAnswers };
}

/** The form whose blocks pass long rows that start anywhere through a ring of slots; undefined where there are none. */
export function lowerRingForm(
  source: Func,
  lowering: TargetLowering,
): { readonly form: LoweredForm | undefined; readonly sameAnswers: LoweredEntry["sameAnswers"] } {
  const { view: target, sameAnswers } = traceTarget(lowering.target);
  const demands = target.clusters ? ringDemands(source) : undefined;
  if (demands === undefined) return { form: undefined, sameAnswers };
  const { when, options } = demands;
  const form = ringForm(source, { ...lowering, target, ...options }, { when, sameAnswers });
  return { form, sameAnswers };
}

function ringForm(
  source: Func,
  lowering: TargetLowering,
  { when, sameAnswers }: Pick<LoweredForm, "when"> & Pick<LoweredEntry, "sameAnswers">,
): LoweredForm | undefined {
  try {
    const passed = runTargetPasses(source, lowering);
    const persistent = persistenceOf(passed.func);
    if (persistent === undefined) return undefined;
    const emitted = emitPassed(passed, lowering);
    const kernel = { ...emitted.kernel, directives: emitted.directivesOn(lowering.target) };
    const lowered = { ...emitted, kernel, sameAnswers, func: passed.func };
    return { lowered, when, maps: [], persistent, startsLate: false };
  } catch (error) {
    // The target has no room for its slots.
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

function shiftedForm(
  source: Func,
  lowering: TargetLowering,
  sameAnswers: LoweredEntry["sameAnswers"],
): LoweredForm | undefined {
  const { target, watch = {} } = lowering;
  const convert = (func: Func): ShiftDemands | undefined =>
    toShiftedForm(func, { numWarps: lowering.numWarps, numCtas: lowering.numCtas ?? 1 });
  const func = cloneFunc(source);
  const demands = timed(watch, shiftRows.name, () => convert(func));
  if (demands === undefined) return undefined;
  const again = (): Func => {
    const copy = cloneFunc(source);
    convert(copy);
    return copy;
  };
  try {
    const passed = runSteps({ func, again, after: shiftRows.name }, lowering);
    const emitted = emitPassed(passed, lowering);
    const kernel = { ...emitted.kernel, directives: emitted.directivesOn(target) };
    return {
      lowered: { ...emitted, kernel, sameAnswers, func: passed.func },
      when: shiftDemands(demands),
      maps: [],
      persistent: undefined,
      startsLate: false,
    };
  } catch (error) {
    // The target has no room for a program of this size: the entry says so.
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

function tensorForm(
  source: Func,
  lowering: TargetLowering,
  sameAnswers: LoweredEntry["sameAnswers"],
): LoweredForm | undefined {
  const { target, numWarps, watch = {} } = lowering;
  if (!hasDots(source) || !target.tensorCopies) return undefined;
  const func = cloneFunc(source);
  const convert = (func: Func): readonly Requirement[] | undefined =>
    toTensorForm(func, { target, numWarps });
  const when = timed(watch, tensorViews.name, () => convert(func));
  if (when === undefined) return undefined;
  const again = (): Func => {
    const copy = cloneFunc(source);
    convert(copy);
    return copy;
  };
  try {
    const passed = runSteps({ func, again, after: tensorViews.name }, lowering);
    const maps = tensorMapPlans(passed.func);
    const persistent = persistenceOf(passed.func);
    if (maps === undefined) return undefined;
    if (lowering.form === "turns" && persistent !== "xyz") return undefined;
    const startsLate = hasChain(passed.func) && target.startsEarly;
    const emitted = emitPassed(passed, { ...lowering, startsLate });
    const kernel = { ...emitted.kernel, directives: emitted.directivesOn(target) };
    const lowered = { ...emitted, kernel, sameAnswers, func: passed.func };
    return { lowered, when: [...when, ...turnDemands(passed.func)], maps, persistent, startsLate };
  } catch (error) {
    // No room for its slots: the plain code needs less.
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

/** Without dots there is nothing to copy for, whatever the target. */
function hasDots({ body }: Func): boolean {
  return holds(body, new Set(["dot"]));
}

/** The passes for a target, on a copy of the function. */
export function runTargetPasses(source: Func, lowering: TargetLowering): Passed {
  const again = (): Func => cloneFunc(source);
  return runSteps({ func: again(), again, after: lastStepOf("tile") }, lowering);
}

/** The steps for a target behind the one that the function is after. */
function runSteps(
  { func, again, after }: Pick<PassRun<TargetContext>, "func" | "again"> & { after: string },
  lowering: TargetLowering,
): Passed {
  const entry = optionsOf(lowering);
  const { target, form = "plain" } = lowering;
  return runPasses<TargetContext>({
    func,
    again,
    steps: TARGET_STEPS.slice(TARGET_STEPS.findIndex(({ name }) => name === after) + 1),
    context: (analyses) => ({ ...analyses, ...entry, target, form }),
    ...(lowering.watch === undefined ? {} : { watch: lowering.watch }),
    header: (step = after) => headerOf(step, lowering),
  });
}

function headerOf(after: string | undefined, lowering: TargetLowering): string {
  const { target, form } = lowering;
  return printHeader({ after, target, entry: optionsOf(lowering), form });
}

const optionsOf = (
  { numWarps, numCtas = 1, numStages, maxRegisters, floats = DEFAULT_FLOATS }: TargetLowering,
): EntryOptions => ({ numWarps, numCtas, numStages, maxRegisters, floats });

/** PTX of a function after all passes. */
function emitPassed({ func, analyses }: Passed, lowering: TargetLowering): EmittedEntry {
  const { symbol, debug = false, target, files, onHomes, startsLate = false, watch = {} } =
    lowering;
  const maxRegisters = registersOfRows(func, { ...optionsOf(lowering), ...analyses, target });
  const entry = { ...optionsOf(lowering), maxRegisters };
  const options = { ...entry, symbol, debug, target, files, onHomes, startsLate };
  try {
    return timed(watch, "emit", () => emitEntry(func, options, analyses.axisInfo()));
  } catch (error) {
    if (error instanceof Unsupported) throw error;
    const ir = headerOf(PASS_NAMES.at(-1), lowering) + printFunc(func);
    throw new PassFailure("emit", func.name, ir, error);
  }
}

/** The module of one entry as text; the function is the result of all passes. */
export function entryText(passed: Passed, lowering: TargetLowering): string {
  const { target } = lowering;
  const { kernel, globals, externs, directivesOn } = emitPassed(passed, lowering);
  const kernels = [{ ...kernel, directives: directivesOn(target) }];
  return timed(lowering.watch ?? {}, "print", () =>
    printModule({
      version: requiredVersion(kernels, target.ptx),
      target: nameOf(target),
      files: [],
      variables: globals,
      functions: externs,
      kernels,
    }));
}

const nameOf = (target: Target): TargetName =>
  Object.values(ALL_TARGETS).find(({ name }) => name === target.name)?.name ?? "sm_80";
