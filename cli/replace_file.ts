/** Writing files that others may be reading. */

/** Puts the text into the file at once: whoever reads it sees the old one or the new one. */
export function replaceFile(path: string, text: string): void {
  const beside = `${path}.${Deno.pid}.tmp`;
  Deno.writeTextFileSync(beside, text);
  try {
    Deno.renameSync(beside, path);
  } catch (error) {
    Deno.removeSync(beside);
    throw error;
  }
}
