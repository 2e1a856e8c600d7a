/** Labels of the names of inlined functions, and the section `.debug_str` that holds those names. */

export class DebugLabels {
  readonly #labels = new Map<string, string>();

  /** The label of a name. */
  of(name: string): string {
    const label = this.#labels.get(name) ?? `$L__info_string${this.#labels.size}`;
    this.#labels.set(name, label);
    return label;
  }

  /** The section, as lines; none if no name was asked for. */
  print(): string[] {
    if (this.#labels.size === 0) return [];
    const encoder = new TextEncoder();
    const strings = [...this.#labels].map(([name, label]) =>
      `${label}:\n  .b8 ${[...encoder.encode(name), 0].join(", ")}`
    );
    return ["", ".section .debug_str", "{", ...strings, "}"];
  }
}
