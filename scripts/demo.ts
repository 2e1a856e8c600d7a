/**
 * Transposes a matrix with the kernel that `build-kernels` made. Without an NVIDIA GPU it says so and shows what
 * was built.
 */
import { Device, TriError } from "@tri/tri/ffi";
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

function showBuilt(reason: string): void {
  say(`No kernel was run: ${reason}`);
  say("");
  say("What was built, from kernels/transpose.tc:");
  say(
    `  generated/transpose.ts     ${transpose.variants.length} variants: ${
      transpose.variants.join(", ")
    }`,
  );
  const files = [...Deno.readDirSync(new URL("../generated/transpose/", import.meta.url))].map((
    f,
  ) => f.name).sort();
  for (const kind of ["ptx", "cubin"]) {
    const targets = files.filter((name) => name.endsWith(`.${kind}`)).map((name) =>
      name.split(".")[1]
    );
    say(`  generated/transpose/*.${kind.padEnd(6)}${targets.join(" ")}`);
  }
  say(`  launch grid of 1000 x 2000: ${transpose.grid({ M: 1000, N: 2000 }).join(" x ")} blocks`);
}

async function main(): Promise<void> {
  let device: Device;
  try {
    device = Device.open();
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    return showBuilt(error.message);
  }
  using gpu = device;
  using x = gpu.tensor(Float32Array.from({ length: 6 }, (_, i) => i + 1), [2, 3]);
  using y = transpose(x);
  say(`x, 2 x 3, on ${gpu.label}:\n${rows(await x.read(), 3)}`);
  say(`transpose(x), 3 x 2:\n${rows(await y.read(), 2)}`);
}

await main();
