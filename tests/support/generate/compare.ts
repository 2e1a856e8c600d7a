/** Runs a random program both ways: compiled, on the emulator with all its checks or on a GPU, and in the reference. */
import type { CompiledModule, InstanceInfo } from "../../../compiler/mod.ts";
import type { CompiledEntry, EntryForm } from "../../../compiler/options.ts";
import { withoutChecks } from "../../../compiler/ptx/checks.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { TypedKernel } from "../../../compiler/check/tree/typed.ts";
import { collectFacts, type Facts } from "../../../compiler/check/facts.ts";
import { spellType } from "../../../compiler/check/tree/types.ts";
import type { CheckOptions } from "../../../compiler/check/check.ts";
import { checkText } from "../compiler/check.ts";
import { takesSeveral, turnsOf } from "../../../ffi/kernel/forms/turns.ts";
import { type Argument, emulate } from "../emulate.ts";
import { type Arguments, formArguments, type Launch, meets, serves } from "../forms/form_run.ts";
import {
  type Cell,
  interpret,
  type Memory,
  Misbehaved,
  NotInterpreted,
  pointerTo,
  Undecided,
  type Visit,
} from "../reference/mod.ts";
import { isFloatName } from "../reference/formats.ts";
import { bytesOf, contentsOf, elementAt, memoryOf, scalarCell, scalarPattern } from "./inputs.ts";
import {
  describeInputs,
  type GeneratedProgram,
  type Location,
  printProgram,
  renderNode,
  renderProgram,
  spellTile,
} from "./tree.ts";
import { compileFile } from "../compile.ts";

export type Verdict =
  | { readonly kind: "equal"; readonly compared: number; readonly exact: number }
  /** E7008: no block has the shared memory that a tile needs. */
  | { readonly kind: "unsupported"; readonly message: string }
  /** Rounding decides where the program goes, or the reference leaves a construct out. */
  | { readonly kind: "undecided"; readonly message: string }
  /** The compiler and the reference differ, or something stopped that must not. */
  | { readonly kind: "wrong"; readonly message: string }
  /** No right program: a mistake of the generator, or of the attempt to make a program smaller. */
  | { readonly kind: "invalid"; readonly message: string };

const wrong = (message: string): Verdict => ({ kind: "wrong", message });

/** A launch of compiled code; the buffers among the arguments hold afterwards what it left there. */
export interface CompiledLaunch {
  readonly kernel: string;
  readonly args: readonly Argument[];
  /** Contents of constant buffers, by name. */
  readonly constants: Readonly<Record<string, Uint8Array>>;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly sharedBytes: number;
}

/** Where compiled code runs. Throws where it stops. */
export type Runner = (ptx: string, launch: CompiledLaunch) => void;

/** Builds leave checks out, and the emulator finds what only they have computed: so half of the programs run. */
const onEmulator = ({ seed }: GeneratedProgram): Runner => (ptx, launch) => {
  const shipped = seed % 2 === 0 ? withoutChecks(ptx) : ptx;
  emulate(shipped, { ...launch, budget: 50_000_000, print: () => {} });
};

/**
 * Compiles and runs a program for its targets and compares what is in memory afterwards. It runs on the emulator, unless
 * something else is given that runs code.
 */
export function compareRuns(program: GeneratedProgram, run?: Runner): Verdict {
  const { text, locations } = printProgram(program);
  const { targets } = program;
  let result: ReturnType<typeof compileFile>;
  try {
    result = compileFile({ name: "k.tc", text }, { targets: [...new Set(targets)], verify: true });
  } catch (error) {
    return wrong(`the compiler stopped: ${error instanceof Error ? error.stack : error}`);
  }
  const errors = result.diagnostics.filter(({ severity }) => severity === "error");
  const other = errors.find(({ code }) => code !== "E7008");
  if (other !== undefined) {
    return { kind: "invalid", message: `${other.code} ${other.message}` };
  }
  if (errors[0] !== undefined) return { kind: "unsupported", message: errors[0].message };
  const compiled = must(result.kernels.find(({ name }) => name === "k"), "the kernel");
  const { facts, watch } = collectFacts();
  const { unit } = checkText(text, {}, { watch, ...dotMode(program) });
  const kernel = must(unit.kernels.find(({ name }) => name === "k"), "the kernel");
  const mistyped = typeProblem(locations, facts);
  if (mistyped !== undefined) return wrong(mistyped);
  const expected = runReference(program, kernel);
  if (!Array.isArray(expected)) return expected;
  let last: Verdict = { kind: "equal", compared: 0, exact: 0 };
  for (const module of compiled.modules) {
    for (const instance of compiled.instances) {
      if (!meets(instance.specialization, launchOf(program))) continue;
      last = runCompiled(program, module, instance, expected, run);
      if (last.kind !== "equal") return last;
    }
  }
  return last;
}

/** How the kernel multiplies floats, which the checker writes into the tree. */
export function dotMode({ pragmas }: GeneratedProgram): Pick<CheckOptions, "dot"> {
  const modes = ["tf32", "tf32x3", "bf16x3"] as const;
  const dot = modes.findLast((mode) => pragmas.includes(`dot(${mode})`));
  return dot === undefined ? {} : { dot };
}

/** An expression that the checker gives another type than the generator, which knows the rules by itself. */
function typeProblem(locations: readonly Location[], { values }: Facts): string | undefined {
  const found = new Map(
    values.map(({ syntax: { span }, typed }) => [`${span.start} ${span.end}`, typed]),
  );
  for (const { node, start, end } of locations) {
    const typed = found.get(`${start} ${end}`) ?? found.get(`${start + 1} ${end - 1}`);
    if (typed === undefined) continue;
    const [got, wanted] = [spellType(typed.type), spellTile(node.type, node.shape)];
    if (got !== wanted) return `the checker says ${got}, not ${wanted}, of ${renderNode(node)}`;
  }
  return undefined;
}

/** What the reference leaves in memory, or why it says nothing. */
export function runReference(
  program: GeneratedProgram,
  kernel: TypedKernel,
  visit?: Visit,
): Memory[] | Verdict {
  const { buffers, scalars, grid } = program;
  const memories = buffers.map((spec, nth) => memoryOf(spec, contentsOf(program, spec, nth)));
  const parameters = memories.filter((_, nth) => buffers[nth]?.constant === undefined);
  const args: Cell[] = [...parameters.map(pointerTo), ...scalars.map(scalarCell)];
  const constants = new Map(memories.map((memory) => [memory.name, memory]));
  try {
    interpret(kernel, args, grid, constants, visit);
  } catch (error) {
    if (error instanceof Undecided || error instanceof NotInterpreted) {
      return { kind: "undecided", message: error.message };
    }
    if (error instanceof Misbehaved) return { kind: "invalid", message: error.message };
    return wrong(`the reference stopped: ${error instanceof Error ? error.stack : error}`);
  }
  return memories;
}

/** The launch of a program, as conditions and tensor maps ask for it. Buffers start at round addresses. */
function launchOf({ buffers, scalars, grid }: GeneratedProgram): Launch {
  const args: Record<string, Arguments[string]> = {};
  for (const { name, constant } of buffers) {
    if (constant === undefined) args[name] = new Uint8Array(0);
  }
  for (const { name, type, value } of scalars) {
    const isWhole = !isFloatName(type) && Math.abs(Number(value)) <= Number.MAX_SAFE_INTEGER;
    args[name] = isWhole
      ? Number(value)
      : { bytes: 8, value: isFloatName(type) ? 0 : BigInt(value) };
  }
  return { grid, args };
}

/** An entry, and its forms that serve the launch. What has tensor maps runs on the emulator alone. */
function runCompiled(
  program: GeneratedProgram,
  module: CompiledModule,
  instance: InstanceInfo,
  expected: readonly Memory[],
  run: Runner | undefined,
): Verdict {
  const entry = must(module.entries.find(({ symbol }) => symbol === instance.symbol), "the entry");
  const launch = launchOf(program);
  const forms = entry.forms?.filter((form) =>
    (run === undefined || form.maps.length === 0) && serves(form, launch) &&
    (form.persistent !== "several" || takesSeveral(launch.grid, atOnce(program, "several")))
  );
  let last = runEntry(program, module, entry, expected, run);
  for (const form of forms ?? []) {
    if (last.kind !== "equal") break;
    last = runEntry(program, module, form, expected, run);
  }
  return last;
}

/** Programs that are done at a time where blocks do several in turn. */
function atOnce(
  { seed, grid: [x] }: GeneratedProgram,
  persistent: EntryForm["persistent"],
): number {
  const count = 1 + seed % 3;
  return persistent === "several" ? Math.min(count, Math.max(1, Math.floor(x / 2))) : count;
}

/** Blocks of a launch, and what forms take after the kernel's parameters. */
function blocksOf(
  program: GeneratedProgram,
  { ptx }: CompiledModule,
  entry: CompiledEntry | EntryForm,
): { readonly grid: Launch["grid"]; readonly more: readonly Argument[] } {
  const { grid } = program;
  const { args } = launchOf(program);
  const { maps = [], persistent } = "maps" in entry ? entry : {};
  const turns = persistent && turnsOf(persistent, grid, atOnce(program, persistent));
  const [x, y, z] = turns?.blocks ?? grid;
  const params = program.buffers.filter(({ constant }) => constant === undefined);
  const names = params.map(({ name }) => name);
  return {
    grid: [x * clusterOf(ptx, entry.symbol), y, z],
    more: formArguments({ maps }, names, args, turns?.numbers),
  };
}

/** Blocks of a program of an entry. */
function clusterOf(ptx: string, symbol: string): number {
  const head = ptx.slice(ptx.indexOf(`.entry ${symbol}(`));
  return Number(/^[^{]*?\.reqnctapercluster (\d+)/.exec(head)?.[1] ?? 1);
}

function runEntry(
  program: GeneratedProgram,
  module: CompiledModule,
  entry: CompiledEntry | EntryForm,
  expected: readonly Memory[],
  run = onEmulator(program),
): Verdict {
  const { buffers, scalars } = program;
  const where = `${module.target}, ${entry.symbol}`;
  const bytes = buffers.map((spec, nth) => contentsOf(program, spec, nth));
  const isParameter = (nth: number): boolean => buffers[nth]?.constant === undefined;
  const args: Argument[] = [
    ...bytes.filter((_, nth) => isParameter(nth)),
    ...scalars.map((spec): Argument => {
      const size = bytesOf(spec.type);
      return {
        bytes: size === 1 || size === 2 || size === 4 ? size : 8,
        value: scalarPattern(spec),
      };
    }),
  ];
  const { grid, more } = blocksOf(program, module, entry);
  try {
    run(module.ptx, {
      kernel: entry.symbol,
      args: [...args, ...more],
      constants: Object.fromEntries(
        bytes.flatMap((content, nth) =>
          isParameter(nth) ? [] : [[must(buffers[nth], "a buffer").name, content]]
        ),
      ),
      grid,
      block: [entry.threads, 1, 1],
      sharedBytes: entry.sharedBytes,
    });
  } catch (error) {
    const text = error instanceof Error ? error.message : `${error}`;
    return wrong(`${where}: the run stopped: ${text}`);
  }
  let [compared, exact] = [0, 0];
  for (const [nth, { name, type, length }] of buffers.entries()) {
    const memory = must(expected[nth], "a buffer");
    for (let index = 0; index < length; index++) {
      const cell = must(memory.cells[index], "an element");
      const got = elementAt(must(bytes[nth], "bytes"), type, index);
      const problem = compareElement(cell, got);
      if (problem === "unknown") continue;
      compared++;
      if (cell.kind !== "float" || cell.error === 0) exact++;
      if (problem !== undefined) return wrong(`${where}: ${name}[${index}] is ${problem}`);
    }
  }
  return { kind: "equal", compared, exact };
}

/** How an element differs from what it must be; "unknown" where it may be anything. */
export function compareElement(cell: Cell, got: bigint | number): string | undefined {
  if (cell.kind === "int") {
    if (!cell.known) return "unknown";
    return cell.value === got ? undefined : `${got}, not ${cell.value}`;
  }
  if (cell.kind !== "float" || cell.error === Infinity) return "unknown";
  const fits = cell.error === 0
    ? Object.is(got, cell.value)
    : Math.abs(Number(got) - cell.value) <= cell.error;
  if (fits) return undefined;
  const shown = Object.is(got, -0) ? "-0" : `${got}`;
  const value = Object.is(cell.value, -0) ? "-0" : `${cell.value}`;
  return `${shown}, not ${value}${cell.error === 0 ? "" : ` within ${cell.error}`}`;
}

/** Text, inputs and the difference, for a person. */
export function report(program: GeneratedProgram, message: string): string {
  const targets = [...new Set(program.targets)].join(", ");
  return `${message}\n\ncompiled for ${targets}, run with ${describeInputs(program)}\n\n${
    renderProgram(program)
  }`;
}
