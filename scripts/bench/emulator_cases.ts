/** Kernels that the emulator is timed with: shipped ones at a useful size, and small ones that do one thing a lot. */
import { chooseArguments, type Sizes } from "../../cli/report/arguments.ts";
import { factsOf } from "../../cli/report/facts.ts";
import { compileFile } from "../../compiler/mod.ts";
import type { CompiledKernel } from "../../compiler/options.ts";
import { must } from "../../compiler/support/bug.ts";
import type { Device, LaunchProfile } from "../../ffi/mod.ts";
import { defineKernel } from "../../ffi/mod.ts";

/** A kernel on a device, ready to be launched again and again. */
export interface Ready extends Disposable {
  launch(): void;
  profile(): LaunchProfile;
}

export interface BenchCase {
  readonly name: string;
  ready(device: Device): Ready;
}

const TARGET = "sm_90";

/** All instances of a kernel that ships. */
export function compileKernel(file: string, name = file): CompiledKernel {
  const path = `../../kernels/${file}.tc`;
  const text = Deno.readTextFileSync(new URL(path, import.meta.url));
  const { kernels, diagnostics } = compileFile({ name: `${file}.tc`, text }, { targets: [TARGET] });
  const found = kernels.find((kernel) => kernel.name === name);
  if (found !== undefined) return found;
  throw new Error(`no kernel ${name}: ${diagnostics.map(({ message }) => message).join("; ")}`);
}

interface Launchable {
  launch(args: object, options: object): LaunchProfile;
  prepare(args: object, options: object): () => void;
}

function shipped(
  name: string,
  kernel: CompiledKernel,
  symbol: string,
  sizes: Readonly<Record<string, number>>,
): BenchCase {
  const given: Sizes = new Map(Object.entries(sizes));
  return {
    name,
    ready(device): Ready {
      const instance = must(kernel.instances.find((each) => each.symbol === symbol), symbol);
      const chosen = chooseArguments(instance, given);
      if (typeof chosen === "string") throw new Error(`${symbol}: ${chosen}`);
      const { scalars, tensors } = chosen;
      const args = Object.fromEntries<unknown>(scalars);
      const made = new DisposableStack();
      for (const { param, dtype, shape, strides } of tensors) {
        args[param] = made.use(device.zeros(dtype, shape, { strides }));
      }
      const facts = factsOf(kernel, must(kernel.modules[0], "module"));
      const launchable: Launchable = defineKernel(facts);
      const variant = { variant: symbol };
      return {
        launch: launchable.prepare(args, variant),
        profile: () => launchable.launch(args, { ...variant, profile: true }),
        [Symbol.dispose]: () => made.dispose(),
      };
    },
  };
}

interface Loop {
  readonly name: string;
  readonly body: string;
  readonly head?: string;
  readonly blocks: number;
  readonly threads: number;
}

/** A kernel `k(out)` of one pointer. */
function loop({ name, body, head = "", blocks, threads }: Loop): BenchCase {
  const text = `.version 8.0
.target ${TARGET}
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<32>;
.reg .b64 %rd<8>;
.reg .f32 %f<32>;
${head}
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mad.lo.s32 %r2, %r1, ${threads}, %r0;
${body}
ld.param.u64 %rd0, [out];
mul.wide.u32 %rd1, %r2, 4;
add.s64 %rd2, %rd0, %rd1;
st.global.f32 [%rd2], %f0;
ret;
}
`;
  return {
    name,
    ready(device): Ready {
      const module = device.loadModule(new TextEncoder().encode(text), name);
      const out = device.zeros("float32", [blocks * threads]);
      const prepared = module.function("k").prepare({
        block: [threads, 1, 1],
        sharedBytes: 0,
        parameterBytes: 8,
      });
      const { buffer, byteOffset } = prepared.argumentBlock;
      new DataView(buffer, byteOffset).setBigUint64(0, out.address, true);
      const stream = device.defaultStream.handle;
      const profile = must(prepared.profile, "profiles of the emulator").bind(prepared);
      return {
        launch: () => prepared.launch(blocks, 1, 1, stream),
        profile: () => profile(blocks, 1, 1, stream),
        [Symbol.dispose]: () => out[Symbol.dispose](),
      };
    },
  };
}

/** Eight multiplications and additions of floats and eight steps of integers in each of `count` rounds. */
const ARITHMETIC = `
cvt.rn.f32.u32 %f0, %r2;
mov.f32 %f1, 0f3F7FBE77;
mov.f32 %f2, 0f3A83126F;
mov.u32 %r3, 0;
mov.u32 %r4, %r2;
AGAIN:
${
  Array.from({ length: 8 }, (_, i) => `
fma.rn.f32 %f0, %f0, %f1, %f2;
${
    [
      "mad.lo.s32 %r4, %r4, 1664525, 1013904223;",
      "shr.u32 %r5, %r4, 7;",
      "xor.b32 %r4, %r4, %r5;",
      "add.s32 %r4, %r4, %r0;",
    ][i % 4]
  }`).join("")
}
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, 200;
@%p0 bra AGAIN;
cvt.rn.f32.s32 %f3, %r4;
add.f32 %f0, %f0, %f3;
`;

const shuffleStep = (by: number): string => `
shfl.sync.bfly.b32 %f2, %f0, ${by}, 31, -1;
add.f32 %f0, %f0, %f2;`;

/** Sums over warps by shuffles, then over the block through shared memory, in each of 40 rounds. */
const REDUCTION = `
cvt.rn.f32.u32 %f0, %r0;
mov.u32 %r3, 0;
and.b32 %r4, %r0, 31;
shr.u32 %r5, %r0, 5;
shl.b32 %r6, %r5, 2;
mov.u32 %r7, partial;
add.u32 %r8, %r7, %r6;
and.b32 %r9, %r4, 7;
shl.b32 %r9, %r9, 2;
add.u32 %r10, %r7, %r9;
setp.eq.u32 %p1, %r4, 0;
AGAIN:
${[16, 8, 4, 2, 1].map(shuffleStep).join("")}
@%p1 st.shared.f32 [%r8], %f0;
bar.sync 0;
ld.shared.f32 %f0, [%r10];
${[4, 2, 1].map(shuffleStep).join("")}
bar.sync 0;
mul.f32 %f0, %f0, 0f3C000000;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, 40;
@%p0 bra AGAIN;
`;

/** Products of 16 × 8 × 16 halves, one after the other. */
const PRODUCT = `
mov.f32 %f0, 0f00000000;
mov.f32 %f1, 0f00000000;
mov.f32 %f2, 0f00000000;
mov.f32 %f3, 0f00000000;
mov.u32 %r3, 0;
${[10, 11, 12, 13, 14, 15].map((i) => `mov.b32 %r${i}, 0x3C003C00;`).join("\n")}
AGAIN:
${
  Array.from(
    { length: 4 },
    () => `
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  {%f0, %f1, %f2, %f3}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f0, %f1, %f2, %f3};`,
  ).join("")
}
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, 50;
@%p0 bra AGAIN;
`;

/** All cases. */
export function benchCases(): readonly BenchCase[] {
  const transpose = compileKernel("transpose");
  const matrix = { M: 1024, N: 1024 };
  // Launches of less than 30 ms run on one thread, however many there are.
  const large = { M: 4096, N: 4096 };
  return [
    shipped("transpose 1024², aligned", transpose, "transpose_float32_a16", matrix),
    shipped("transpose 1024², general", transpose, "transpose_float32", matrix),
    shipped("transpose 4096², aligned", transpose, "transpose_float32_a16", large),
    shipped("copy 1024²", compileKernel("copy"), "copy_float32_a16", matrix),
    shipped("vector_add 2^20", compileKernel("vector_add"), "vector_add_float32_a16", {
      N: 2 ** 20,
    }),
    ...loops(1),
  ];
}

/** Launches of about a millisecond, of kernels that were compiled before: few of them are interrupted. */
export function smallCases(
  { transpose, copy }: Readonly<Record<"transpose" | "copy", CompiledKernel>>,
): readonly BenchCase[] {
  const [matrix, tile] = [{ M: 128, N: 128 }, { M: 64, N: 64 }];
  return [
    shipped("transpose 128², aligned", transpose, "transpose_float32_a16", matrix),
    shipped("transpose 64², general", transpose, "transpose_float32", tile),
    shipped("copy 128²", copy, "copy_float32_a16", matrix),
    ...loops(256),
  ];
}

/** With so many times fewer blocks. */
function loops(fewer: number): readonly BenchCase[] {
  const blocks = Math.ceil(256 / fewer);
  return [
    loop({ name: "fma and integers", body: ARITHMETIC, blocks, threads: 128 }),
    loop({
      name: "reduction",
      head: ".shared .align 4 .b8 partial[32];",
      body: REDUCTION,
      blocks,
      threads: 256,
    }),
    loop({ name: "mma m16n8k16", body: PRODUCT, blocks: Math.ceil(blocks / 2), threads: 128 }),
  ];
}
