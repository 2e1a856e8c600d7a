/** What the emulator does with each form of PTX_OPS, asked of the code that decides it. */
import { type PtxForm, type PtxOpRow, readForm } from "../compiler/ptx/form.ts";
import { type Match, matchInstruction } from "../compiler/ptx/match.ts";
import { PTX_OPS } from "../compiler/ptx/ops.ts";
import { bug } from "../compiler/support/bug.ts";
import { contextFor, type SymbolLocation } from "../emulator/compile/context.ts";
import { RegisterFileLayout } from "../emulator/compile/layout.ts";
import { isBarrier, isBranch } from "../emulator/compile/lines.ts";
import { chooseStep } from "../emulator/compile/select.ts";
import { Fault } from "../emulator/fault.ts";
import { newHost } from "../emulator/host.ts";
import type { HandlerContext } from "../emulator/machine.ts";
import { newMemory } from "../emulator/memory.ts";
import { allSamples, type Sample } from "../tests/support/emulator/ptx_samples.ts";

/** Who does an instruction: see the page for what each means. */
export const WAYS = ["wasm", "exact", "own", "flow", "none"] as const;
export type Way = (typeof WAYS)[number];

/** A sample of a form, and who does it. */
export interface ClassifiedSample {
  readonly sample: Sample;
  readonly way: Way;
}

/** A form and its samples: the first choice of each of its modifiers, and every other one alone. */
export interface ClassifiedForm {
  readonly form: PtxForm;
  readonly samples: readonly ClassifiedSample[];
}

/** An instruction with all of its forms. */
export interface ClassifiedRow {
  readonly opcode: string;
  readonly row: PtxOpRow;
  readonly forms: readonly ClassifiedForm[];
}

/** Every row of the table. */
export function classifyRows(): readonly ClassifiedRow[] {
  const byOpcode = Map.groupBy(allSamples(), ({ instruction }) => instruction.opcode);
  const context = sampleContext();
  return Object.entries(PTX_OPS).map(([opcode, row]): ClassifiedRow => {
    const forms = row.forms.map((form: PtxForm): ClassifiedForm => {
      const samples = (byOpcode.get(opcode) ?? []).filter((sample) => sample.form === form);
      return { form, samples: samples.map((sample) => ({ sample, way: wayOf(sample, context) })) };
    });
    return { opcode, row, forms };
  });
}

/** What samples are compiled in. */
function sampleContext(): HandlerContext {
  const { machine } = newHost(newMemory(1 << 16));
  // Without checks accesses are done as programs without them see it.
  const symbols = new Map<string, SymbolLocation>([["ARGUMENT", { space: "local", location: 0 }]]);
  const layout = new RegisterFileLayout([], new Map(), () => 0n);
  return contextFor(machine, layout, symbols, { kernel: "samples", text: "" }, 90);
}

function wayOf({ instruction }: Sample, context: HandlerContext): Way {
  const match = matchInstruction(instruction);
  if (typeof match === "string") return bug(`${instruction.opcode}: ${match}`);
  if (match.opcode === "call") return isDirect(match) ? "flow" : "none";
  if (isBranch(match) || isBarrier(match)) return "flow";
  try {
    switch (chooseStep(match, context)?.way) {
      case "WebAssembly":
        return "wasm";
      case "definition":
        return "exact";
      case "handler":
        return "own";
      case undefined:
        return "none";
    }
  } catch (error) {
    if (error instanceof Fault && error.kind === "unsupported instruction") return "none";
    throw error;
  }
}

/** Calls through pointers say what they may call. */
function isDirect({ form }: Match): boolean {
  return readForm(form).operands.every(({ kind }) => kind !== "label");
}
