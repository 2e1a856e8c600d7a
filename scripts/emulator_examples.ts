/** A kernel for each kind of fault, and what the emulator says of it. */
import type { FaultKind } from "../ffi/mod.ts";
import { Device, EmulatorError, type EmulatorWarning, type Tensor } from "../ffi/mod.ts";

interface Example {
  /** Body of `k(X, Y)`; `%x` and `%y` are the addresses of two tensors of 64 singles, `%t` is the thread. */
  readonly body: string;
  /** Declarations of the module. */
  readonly head?: string;
  /** Declarations of memory. */
  readonly shared?: string;
  readonly blocks?: number;
  /** The module's target; sm_90 if absent. */
  readonly target?: string;
  /** Directives of the kernel. */
  readonly directives?: string;
  /** Whether the message is a warning. */
  readonly warns?: true;
  /** Whether the launch may start before those before it have ended. */
  readonly startsEarly?: true;
  /** Whether X has been disposed of. */
  readonly disposed?: true;
}

const BLOCK = 64;

const EXAMPLES: Readonly<Record<FaultKind, Example>> = {
  "out of bounds": {
    body: "shl.b32 %a, %t, 3; cvt.u64.u32 %o, %a; add.u64 %x, %x, %o; ld.global.f32 %f, [%x];",
  },
  "misaligned": {
    body: "ld.global.v2.f32 {%f, %g}, [%x+4];",
  },
  "use after free": {
    body: "mul.wide.u32 %o, %t, 4; add.u64 %x, %x, %o; ld.global.f32 %f, [%x];",
    disposed: true,
  },
  "uninitialised memory": {
    shared: ".shared .align 4 .b32 tile[64];",
    body:
      "mov.u32 %a, tile; mad.lo.u32 %a, %t, 4, %a; ld.shared.f32 %f, [%a]; st.global.f32 [%y], %f;",
  },
  "uninitialised register": {
    body: "setp.lt.u32 %p, %t, 8; @%p mov.f32 %f, 0f00000000; st.global.f32 [%y], %f;",
  },
  "race": {
    body: "ld.global.u32 %a, [%y]; add.u32 %a, %a, 1; st.global.u32 [%y], %a;",
  },
  "missing barrier": {
    shared: ".shared .align 4 .b32 tile[64];",
    body: "mov.u32 %a, tile; mad.lo.u32 %b, %t, 4, %a; st.shared.u32 [%b], %t;\n" +
      "xor.b32 %c, %t, 63; mad.lo.u32 %b, %c, 4, %a; ld.shared.u32 %c, [%b];",
  },
  "divergent barrier": {
    body: "setp.lt.u32 %p, %t, 40; @%p bra first; bar.sync 0; bra last; first: bar.sync 0; last:",
  },
  "member mask": {
    body: "shfl.sync.idx.b32 %a, %t, 0, 31, 0xffff;",
  },
  "exited lanes": {
    body: "setp.ge.u32 %p, %t, 40; @%p exit; vote.sync.ballot.b32 %a, 1, 0xffffffff;",
    warns: true,
  },
  "barrier misuse": {
    shared: ".shared .align 8 .b64 full;",
    body: "mov.u32 %a, full; mbarrier.arrive.shared.b64 _, [%a];",
  },
  "deadlock": {
    shared: ".shared .align 8 .b64 full;",
    body:
      `mov.u32 %a, full; setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared.b64 [%a], 65; bar.sync 0;
mbarrier.arrive.shared.b64 _, [%a]; again: mbarrier.try_wait.parity.shared.b64 %p, [%a], 0; @!%p bra again;`,
  },
  "instruction budget": {
    body: "mov.u32 %a, 0; again: add.u32 %a, %a, 1; setp.ne.u32 %p, %t, 64; @%p bra again;",
  },
  "pending copy": {
    shared: ".shared .align 16 .b32 tile[64];",
    body:
      "mov.u32 %a, tile; mad.lo.u32 %a, %t, 4, %a; mul.wide.u32 %o, %t, 4; add.u64 %x, %x, %o;\n" +
      "cp.async.ca.shared.global [%a], [%x], 4; cp.async.commit_group; ld.shared.f32 %f, [%a];",
  },
  "register in flight": {
    target: "sm_90a",
    shared: ".shared .align 128 .b32 tile[64]; .reg .f32 %s<4>;",
    body: "mov.u32 %a, tile; mad.lo.u32 %b, %t, 4, %a; st.shared.u32 [%b], 0;\n" +
      "fence.proxy.async.shared::cta; bar.sync 0;\n" +
      `shr.u32 %b, %a, 4; cvt.u64.u32 %o, %b; or.b64 %o, %o, ${(8n << 32n) | (8n << 16n)};\n` +
      "mov.u32 %c, 0; wgmma.fence.sync.aligned;\n" +
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%s0, %s1, %s2, %s3}, {%c, %c, %c, %c}, %o, 0, 1, 1, 0;\n" +
      "wgmma.commit_group.sync.aligned; mov.f32 %f, %s0;",
  },
  "missing fence": {
    shared: ".shared .align 16 .b32 tile[64];",
    body:
      "mov.u32 %a, tile; mad.lo.u32 %b, %t, 4, %a; st.shared.u32 [%b], %t; bar.sync 0; setp.ne.u32 %p, %t, 0; @%p exit;\n" +
      "cp.async.bulk.global.shared::cta.bulk_group [%y], [%a], 256;",
  },
  "read-only memory": {
    body: "mul.wide.u32 %o, %t, 4; add.u64 %y, %y, %o; st.global.f32 [%y], 0f00000000;\n" +
      "ld.global.nc.f32 %f, [%y];",
  },
  "exited block": {
    shared: ".shared .align 4 .b32 tile[64];",
    body:
      "mov.u32 %a, tile; mad.lo.u32 %a, %t, 4, %a; st.shared.u32 [%a], %t; barrier.cluster.arrive; barrier.cluster.wait;\n" +
      "mov.u32 %b, %cluster_ctarank; xor.b32 %b, %b, 1; mapa.shared::cluster.u32 %a, %a, %b;\n" +
      "ld.shared::cluster.u32 %c, [%a];",
    blocks: 2,
    directives: ".reqnctapercluster 2, 1, 1",
  },
  "early access": {
    body:
      "mul.wide.u32 %o, %t, 4; add.u64 %x, %x, %o; ld.global.f32 %f, [%x]; griddepcontrol.wait;",
    startsEarly: true,
  },
  "unsupported instruction": {
    body: "stacksave.u64 %o;",
  },
  "illegal instruction": {
    body: "add.u32 %a, %t, 16; bar.sync %a;",
  },
  "failed assertion": {
    head:
      ".extern .func __assertfail (.param .b64 c, .param .b64 f, .param .b32 l, .param .b64 g, .param .b64 s);\n" +
      ".global .align 1 .b8 said[6] = {116, 32, 60, 32, 53, 0}; .global .align 1 .b8 file[5] = {107, 46, 99, 117, 0};",
    shared: ".param .b64 c, f, g, s; .param .b32 l;",
    body:
      "setp.ne.u32 %p, %t, 5; @%p bra end; mov.u64 %o, said; cvta.global.u64 %o, %o; st.param.b64 [c], %o; st.param.b64 [g], %o;\n" +
      "mov.u64 %o, file; cvta.global.u64 %o, %o; st.param.b64 [f], %o; st.param.b32 [l], 7; st.param.b64 [s], 1;\n" +
      "call __assertfail, (c, f, l, g, s); end:",
  },
  "trap": {
    body: "setp.eq.u32 %p, %t, 5; @%p trap;",
  },
};

function textOf(
  { body, head = "", shared = "", directives = "", target = "sm_90" }: Example,
): string {
  return `.version 8.5
.target ${target}
.address_size 64
.file 1 "k.cu"
${head}
.visible .entry k(.param .u64 X, .param .u64 Y) ${directives}
{
${shared}
.reg .pred %p; .reg .b32 %t, %a, %b, %c; .reg .b64 %x, %y, %o; .reg .f32 %f, %g;
mov.u32 %t, %tid.x;
ld.param.u64 %x, [X];
ld.param.u64 %y, [Y];
.loc 1 7 3
${body}
ret;
}
`;
}

/** Runs an example; what is thrown, or the warning. */
function run(example: Example): Pick<EmulatorError, "kind" | "message"> {
  const warnings: EmulatorWarning[] = [];
  using device = Device.open({
    device: "emulator",
    budget: 1e6,
    workers: 1,
    warn: (warning) => warnings.push(warning),
  });
  const module = device.loadModule(new TextEncoder().encode(textOf(example)), "k");
  const [x, y]: readonly Tensor[] = [1, 2].map(() => device.zeros("float32", [BLOCK]));
  const { argumentBlock, launch } = module.function("k").prepare({
    block: [BLOCK, 1, 1],
    sharedBytes: 0,
    parameterBytes: 16,
    parameterNames: ["X", "Y"],
    ...(example.startsEarly === undefined ? {} : { startsEarly: example.startsEarly }),
  });
  const view = new DataView(argumentBlock.buffer, argumentBlock.byteOffset);
  [x, y].forEach((tensor, i) => view.setBigUint64(8 * i, tensor?.address ?? 0n, true));
  if (example.disposed) x?.[Symbol.dispose]();
  try {
    launch(example.blocks ?? 1, 1, 1, device.defaultStream.handle);
  } catch (error) {
    if (error instanceof EmulatorError) return error;
    throw error;
  }
  if (warnings[0] !== undefined && example.warns === true) return warnings[0];
  throw new Error(`no fault:\n${textOf(example)}`);
}

/** Each kind with the message of its example. */
export function faultMessages(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(EXAMPLES).map(([kind, example]) => {
      const error = run(example);
      if (error.kind !== kind) throw new Error(`${kind}: ${error.message}`);
      return [kind, error.message];
    }),
  );
}
