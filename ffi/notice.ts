/** Lines on the standard error stream: what a program should know beside its output. */

const printed = new Set<string>();

/** A program that opens many devices, or launches many times, gets each line once. */
export function printNotice(line: string): void {
  if (printed.has(line)) return;
  printed.add(line);
  // deno-lint-ignore no-console -- the standard error stream is for what a program should know beside its output
  console.error(line);
}
