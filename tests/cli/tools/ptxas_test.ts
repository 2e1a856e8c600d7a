import {
  architecturesIn,
  assemble,
  type Assembler,
  chooseAssembler,
  findAssemblers,
  ptxVersionOf,
  resourcesIn,
  warningsIn,
} from "../../../cli/tools/ptxas.ts";
import { must } from "../../../compiler/support/bug.ts";
import { EXIT, Failure } from "../../../cli/failure.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "../../support/assert.ts";
import { fakePtxas, Workspace } from "../support/tri_process.ts";

const OLD: Assembler = { path: "/old", version: "11.8.89", archs: ["sm_70", "sm_90"], ptx: 78 };
const NEW: Assembler = { path: "/new", version: "13.0.88", archs: ["sm_90", "sm_100"], ptx: 90 };

Deno.test("chooseAssembler() takes the newest that supports the architecture and the PTX version", () => {
  assertEquals(chooseAssembler([NEW, OLD], "sm_90", 78), NEW);
  assertEquals(chooseAssembler([NEW, OLD], "sm_70", 60), OLD);
  assertEquals(
    chooseAssembler([OLD], "sm_90", 80),
    "no installed ptxas that supports sm_90 reads PTX 8.0",
  );
  assertEquals(
    chooseAssembler([NEW, OLD], "sm_120", 87),
    "no installed ptxas supports sm_120 (found 13.0.88, 11.8.89)",
  );
  assertEquals(chooseAssembler([], "sm_90", 78), "no ptxas found");
});

Deno.test("architecturesIn() reads real architectures only, across lines", () => {
  const help = [
    "--fmad  (-fmad)",
    "        Allowed values: 'sm_10'.",
    "--gpu-name <gpu name>        (-arch)",
    "        Allowed values for this option:  'compute_90','lto_90','sm_90',",
    "        'sm_90a','sm_103f'.",
    "        Default value:  'sm_90'.",
    "",
    "--help   (-h)",
    "        'sm_99'",
  ].join("\n");
  assertEquals(architecturesIn(help), ["sm_90", "sm_90a", "sm_103f"]);
});

Deno.test("ptxVersionOf() reads the .version line", () => {
  assertEquals(ptxVersionOf("// note\n.version 7.8\n.target sm_90\n"), 78);
  assertEquals(ptxVersionOf("nothing"), 0);
});

const LOG = `ptxas info    : 0 bytes gmem
ptxas info    : (C7508) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for a
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 16 bytes cumulative stack size, 8192 bytes smem
ptxas warning : Value of threads per SM is out of range
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 360 bytes cmem[0]
`;

Deno.test("resourcesIn() reads the -v report of every entry", () => {
  assertEquals(resourcesIn(LOG), {
    a: {
      registers: 32,
      sharedBytes: 8192,
      stackBytes: 16,
      spillStoreBytes: 8,
      spillLoadBytes: 4,
    },
    b: { registers: 8, sharedBytes: 0, stackBytes: 0, spillStoreBytes: 0, spillLoadBytes: 0 },
  });
});

Deno.test("warningsIn() keeps warnings and C75xx remarks", () => {
  assertEquals(warningsIn(LOG).map((line) => line.slice(0, 24)), [
    "ptxas info    : (C7508) ",
    "ptxas warning : Value of",
  ]);
});

async function withAssemblers<T>(
  list: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const names = ["TRI_PTXAS", "PATH", "CUDA_HOME", "CUDA_PATH"];
  const before = names.map((name) => [name, Deno.env.get(name)] as const);
  for (const name of names) Deno.env.delete(name);
  // The fake ones are shell scripts, which need a few programs themselves.
  Deno.env.set("PATH", "/bin");
  Deno.env.set("TRI_PTXAS", list.join(":"));
  try {
    return await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
}

Deno.test("findAssemblers() runs every listed ptxas once and says why one is unusable", async () => {
  using workspace = new Workspace();
  const good = workspace.writeProgram(
    "good/ptxas",
    fakePtxas({ version: "99.1", archs: ["sm_80"], ptx: "7.0" }),
  );
  const mute = workspace.writeProgram("mute/ptxas", "exit 3\n");
  const liar = workspace.writeProgram("liar/ptxas", "echo hello\n");
  Deno.symlinkSync(good, `${workspace.path}/again`);
  const missing = `${workspace.path}/missing`;
  const { usable, rejected } = await withAssemblers(
    [good, `${workspace.path}/again`, mute, liar, missing],
    findAssemblers,
  );
  assertEquals(usable.filter(({ path }) => path.startsWith(workspace.path)), [
    { path: good, version: "99.1.1", archs: ["sm_80"], ptx: 70 },
  ]);
  assertEquals(usable[0]?.path, good, "the newest comes first");
  assertEquals(rejected.map(({ path }) => path), [mute, liar]);
  assertStringIncludes(must(rejected[1], "the liar").reason, "does not look like ptxas");
});

Deno.test("assemble() gives the image, or what ptxas complains about", async () => {
  using workspace = new Workspace();
  const make = (assembleScript: string): Assembler => ({
    path: workspace.writeProgram(
      "ptxas",
      fakePtxas({ version: "99.1", archs: ["sm_80"], assemble: assembleScript }),
    ),
    version: "99.1.1",
    archs: ["sm_80"],
  });
  const done = await assemble(
    make("printf '\\177ELF'; echo 'ptxas warning : odd' >&2"),
    "sm_80",
    "x",
  );
  assertEquals(done, {
    kind: "cubin",
    cubin: new TextEncoder().encode("\x7fELF"),
    warnings: ["ptxas warning : odd"],
    resources: {},
  });
  const bad = await assemble(
    make("echo 'ptxas /tmp/tmpxft_0_stdin, line 1; fatal : no' >&2; exit 255"),
    "sm_80",
    "x",
  );
  assertEquals(bad, { kind: "failed", message: "ptxas line 1; fatal : no" });
  const empty = await assemble(make("true"), "sm_80", "x");
  assertEquals(empty, { kind: "failed", message: "what it wrote is no image" });
  const text = await assemble(make("printf 'no cubin'"), "sm_80", "x");
  assertEquals(text, { kind: "failed", message: "what it wrote is no image" });
});

Deno.test("assemble() does not blame the code when ptxas cannot run or is killed", async () => {
  using workspace = new Workspace();
  const path = workspace.writeProgram("ptxas", "kill -9 $$\n");
  for (const [program, reason] of [[path, "(exit code 137)"], [`${path}-gone`, "No such file"]]) {
    const assembler = { ...NEW, path: must(program, "a path") };
    const failure = await assertRejects(() => assemble(assembler, "sm_80", "x"), Failure, reason);
    assertEquals(failure.exitCode, EXIT.environment);
  }
});
