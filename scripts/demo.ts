/**
 * Transposes a matrix with the kernel that `deno task demo` has built: on an NVIDIA GPU if there is one, else on the
 * emulator, which also says what the kernel did.
 */
import { Device } from "@tri/tri/ffi";
import { transpose } from "../generated/transpose.ts";

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function rows(values: Float32Array, columns: number): string {
  return Array.from(
    { length: values.length / columns },
    (_, row) => `  ${[...values.subarray(row * columns, (row + 1) * columns)].join(" ")}`,
  ).join("\n");
}

/** What the emulator counts of a transposition; a GPU does not count. */
function showProfile(device: Device): void {
  using x = device.zeros("float32", [256, 256]);
  const { result, profile: { kernel, grid, warpInstructions, global, shared } } = transpose(x, {
    profile: true,
  });
  result[Symbol.dispose]();
  say(
    `${kernel} of 256 x 256, ${
      grid.join(" x ")
    } blocks, ${warpInstructions} instructions of warps:`,
  );
  say(
    `  global memory  ${global.requests} requests, ${global.sectors} sectors (ideal ${global.idealSectors})`,
  );
  say(`  shared memory  ${shared.requests} requests, ${shared.bankConflicts} bank conflicts`);
}

async function main(): Promise<void> {
  using device = Device.open({ notice: false });
  say(`on ${device.label}, because ${device.why}`);
  say("");
  using x = device.tensor(Float32Array.from({ length: 6 }, (_, i) => i + 1), [2, 3]);
  using y = transpose(x);
  say(`x, 2 x 3:\n${rows(await x.read(), 3)}`);
  say(`transpose(x), 3 x 2:\n${rows(await y.read(), 2)}`);
  if (device.info.kind !== "emulator") return;
  say("");
  showProfile(device);
}

await main();
