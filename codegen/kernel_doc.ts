/** The doc comment of a kernel, taken apart: what it says of the kernel, and of each parameter. */

export interface KernelDoc {
  /** Without the `@param` tags. */
  readonly text: string;
  /** By the kernel's name for it. */
  readonly params: ReadonlyMap<string, string>;
}

/** Reads `@param NAME text` and `@param NAME - text`; lines that follow belong to it until the next tag or empty line. */
export function readKernelDoc(doc: string): KernelDoc {
  const text: string[] = [];
  const params = new Map<string, string>();
  let open: string | undefined;
  for (const line of doc.split("\n")) {
    const [, name, said] = /^\s*@param\s+([A-Za-z_]\w*)\s*(?:-\s+)?(.*)$/.exec(line) ?? [];
    if (name !== undefined && said !== undefined) {
      open = name;
      params.set(name, said.trim());
    } else if (open !== undefined && line.trim() !== "" && !line.trimStart().startsWith("@")) {
      params.set(open, `${params.get(open) ?? ""} ${line.trim()}`.trim());
    } else {
      open = undefined;
      text.push(line);
    }
  }
  return { text: text.join("\n").trim(), params };
}
