/** The constant buffers that a kernel's instances use, as its caller sees them. */
import type { Func } from "../ir/func.ts";
import { walkOps } from "../ir/walk.ts";
import type { ConstantBuffer } from "../options.ts";
import { CONSTANT_BYTES, constantSpace } from "../support/constants.ts";
import type { Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";

/** Names that PTX, the driver or lowering has for something else in a module. */
const TAKEN = /^(_+|WARP_SZ|tri_\w+|vprintf|__assertfail)$/;

/** Collects them; instances may disagree about sizes, as those may depend on macros. */
export class ConstantBuffers {
  readonly #uses = new Map<string, { readonly bytes: number; readonly span: Span }>();

  add(func: Func): void {
    walkOps(func.body, (op) => {
      if (op.name !== "constant_buffer") return;
      const { buffer: name } = op.attrs;
      const bytes = Math.max(op.attrs.bytes, this.#uses.get(name)?.bytes ?? 0);
      this.#uses.set(name, { bytes, span: op.span });
    });
  }

  /** Each with its largest size, by name. */
  list(): readonly ConstantBuffer[] {
    return [...this.#uses].map(([name, { bytes }]) => ({ name, bytes })).toSorted((a, b) =>
      a.name < b.name ? -1 : 1
    );
  }

  /** What only all instances together show: they share an image, in which `entries` are names too. */
  report(entries: Iterable<string>, reporter: Reporter): void {
    const taken = new Set(entries);
    let space = 0n;
    for (const [name, { bytes, span }] of this.#uses) {
      space += constantSpace(BigInt(bytes));
      if (taken.has(name) || TAKEN.test(name)) {
        reporter.error("E7010", span, `a constant buffer cannot be called \`${name}\``, {
          hint: "the name is reserved in the image; rename the buffer",
        });
      }
      if (space > CONSTANT_BYTES) {
        const message =
          `the constant buffers of all instances take ${space} bytes; the limit is ${CONSTANT_BYTES}`;
        reporter.error("E7005", span, message, { hint: "pass larger tables by pointer" });
        return;
      }
    }
  }
}
