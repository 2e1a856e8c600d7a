/** Prints what launches did; with `unshared`, in a process that has no `SharedArrayBuffer`. */
import { GALLERY } from "../../playground/gallery/entries.ts";
import { openEntry } from "../playground/gallery.ts";

if (Deno.args[0] === "unshared") Reflect.deleteProperty(globalThis, "SharedArrayBuffer");
// Whether memory can be shared is decided when the emulator is loaded.
const { run } = await import("../../playground/session/run.ts");
const lines = GALLERY
  .filter(({ name }) => ["transpose", "tile_matmul", "race"].includes(name))
  .map((entry) => {
    const { program, call } = openEntry(entry);
    return `${JSON.stringify({ ...run(program, call), milliseconds: 0 })}\n`;
  });
await Deno.stdout.write(new TextEncoder().encode(lines.join("")));
