/**
 * A tensor that two processes use (CUDA IPC): this one makes it, the other one adds 1 to each element. Needs a GPU.
 *
 *     deno run -A scripts/interop/shared_memory.ts
 */
import { Device, openShared, type SharedTensor, shareTensor } from "../../ffi/mod.ts";

const VALUES = Int32Array.of(1, 2, 3, 4, 5, 6);
const [description] = Deno.args;

if (description === undefined) {
  using device = Device.open({ device: "gpu" });
  using x = device.tensor(VALUES, [2, 3]);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", import.meta.filename ?? "", JSON.stringify(shareTensor(x))],
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  const isRight = success && x.readSync().every((value, i) => value === i + 2);
  // deno-lint-ignore no-console -- a program for the terminal
  console.log(isRight ? "ok: the other process changed the tensor" : "WRONG");
  if (!isRight) Deno.exitCode = 1;
} else {
  const shared: SharedTensor<"int32"> = JSON.parse(description);
  using device = Device.open({ device: "gpu" });
  using x = openShared(device, shared);
  x.write(x.readSync().map((value) => value + 1));
  device.synchronize();
}
