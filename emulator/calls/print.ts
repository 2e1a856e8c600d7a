/** Where the text of kernels goes. */
import type { Machine } from "../machine.ts";

export type Printer = (text: string) => void;

const printers = new WeakMap<Machine, Printer>();

/** Lets a machine's kernels print somewhere else than on the console. */
export function setPrinter(machine: Machine, printer: Printer): void {
  printers.set(machine, printer);
}

/** Where a machine's kernels print. */
export function printerOf(machine: Machine): Printer {
  return printers.get(machine) ?? toConsole;
}

/** Consoles write lines; what has no end yet waits for it. */
let line = "";

function toConsole(text: string): void {
  const lines = (line + text).split("\n");
  line = lines.pop() ?? "";
  for (const each of lines) {
    // deno-lint-ignore no-console -- what a kernel prints is meant for the console
    console.log(each);
  }
}

export function print(machine: Machine, text: string): void {
  printerOf(machine)(text);
}
