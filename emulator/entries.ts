/**
 * Modules as text, and the kernels in them. A large module, as compilers write one for many instances of a kernel, has more text
 * than a program ever runs: its entries are read one by one, when they are first asked for.
 */
import type { PtxKernel, PtxModule } from "../compiler/ptx/func.ts";
import { inlineCalls } from "../compiler/ptx/inline.ts";
import { parsePtx } from "../compiler/ptx/parse.ts";

/** A kernel, and a module that has it with all that it uses. */
export interface Entry {
  readonly text: string;
  readonly module: PtxModule;
  readonly kernel: PtxKernel;
}

/** A module whose kernels may still be text. */
export interface ReadModule {
  /** Variables and functions. */
  readonly shared: PtxModule;
  /** Of kernels, in order. */
  readonly names: readonly string[];
  /** Whether all of the text has been read, so that no mistake in it is left to be found. */
  readonly isWhole: boolean;
  /** Throws `PtxSyntaxError` unless all has been read. */
  entry(name: string): Entry | undefined;
}

/** Smaller modules are read as a whole: mistakes are found when they are loaded, as by the driver of a GPU. */
const LARGE_LENGTH = 100_000;

/** Reads a module, or of a large one only what its entries share. Throws `PtxSyntaxError`. */
export function readModule(text: string): ReadModule {
  const divided = text.length < LARGE_LENGTH ? undefined : divideEntries(text);
  if (divided === undefined) {
    const module = inlineCalls(parsePtx(text));
    const kernels = new Map(module.kernels.map((kernel) => [kernel.name, kernel]));
    return {
      shared: module,
      names: [...kernels.keys()],
      isWhole: true,
      entry: (name) => {
        const kernel = kernels.get(name);
        return kernel && { text, module, kernel };
      },
    };
  }
  const { head, entries } = divided;
  return {
    shared: parsePtx(head),
    names: [...entries.keys()],
    isWhole: false,
    entry: (name) => {
      const own = entries.get(name);
      if (own === undefined) return undefined;
      const module = inlineCalls(parsePtx(own));
      const kernel = module.kernels.find((each) => each.name === name);
      return kernel && { text: own, module, kernel };
    },
  };
}

/** A module in pieces: what comes before its first entry, and for each entry a module that has no other one. */
interface DividedModule {
  readonly head: string;
  readonly entries: ReadonlyMap<string, string>;
}

const BEGIN = /^\.visible \.entry (\w+)\(/gm;
const END = "\n}\n";

/**
 * Divides a module whose entries begin and end with lines of their own, and come last. Undefined for any other: it is read as a
 * whole.
 */
export function divideEntries(text: string): DividedModule | undefined {
  const begins = [...text.matchAll(BEGIN)];
  const head = text.slice(0, begins[0]?.index);
  if (begins.length < 2 || head.includes(".entry")) return undefined;
  const entries = new Map<string, string>();
  // Entries stay in their lines, which messages name.
  let lines = "";
  for (const [i, { index, 1: name = "" }] of begins.entries()) {
    const own = text.slice(index, begins[i + 1]?.index);
    const end = own.indexOf(END);
    if (end < 0 || own.slice(end + END.length).trim() !== "" || entries.has(name)) return undefined;
    entries.set(name, head + lines + own);
    lines += "\n".repeat(own.split("\n").length - 1);
  }
  return { head, entries };
}
