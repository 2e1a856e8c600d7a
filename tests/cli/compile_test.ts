/**
 * `deno compile` of a program that imports a wrapper. It appends programs to Deno's run time (denort), which it downloads
 * once. Where that cannot be had, another file replaces it: the program's content is checked, but it does not run.
 */
import { assert, assertEquals } from "../support/assert.ts";
import { REAL_MAIN, Workspace } from "./support/tri_process.ts";

const KERNEL = `#pragma tri config B=64
__global__ void twice(float *X, float *Y, int N) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  *?(r < N) (Y + r) = 2 * *?(r < N) (X + r);
}
`;
const PROGRAM = `import { Device } from "@tri/tri/ffi";
import { twice } from "./out/twice.ts";

using device = Device.open({ device: "emulator" });
const y = twice(device.tensor(new Float32Array([1, 2, 3]), [3]));
console.log((await y.read()).join(" "));
`;

/** Programs have the permissions that they are compiled with. */
async function compile(at: string, options: readonly string[], standIn: boolean): Promise<string> {
  const args = ["compile", "-q", "--no-check", "--allow-read", ...options, "-o", "app", "main.ts"];
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: at,
    env: { NO_COLOR: "1", ...(standIn ? { DENORT_BIN: "/bin/sh" } : {}) },
  }).output();
  return code === 0 ? "" : new TextDecoder().decode(stderr) || `exit code ${code}`;
}

/** Undefined also where compiling fails for another reason, so that the tests fail then. */
async function whyNoRunTime(): Promise<string | undefined> {
  using workspace = new Workspace({ "main.ts": "", "deno.json": "{}" });
  const said = await compile(workspace.path, [], false);
  const url = /https:\S*\/denort\S*\.zip/.exec(said)?.[0];
  return url === undefined ? undefined : `${url} cannot be downloaded`;
}

const missing = await whyNoRunTime();

async function project(...options: string[]): Promise<Workspace> {
  const workspace = new Workspace({
    "k/twice.tc": KERNEL,
    "main.ts": PROGRAM,
    "deno.json": JSON.stringify({
      links: [new URL("../../", import.meta.url).pathname],
      imports: { "@tri/tri": "jsr:@tri/tri@^0.1.0" },
    }),
  });
  const build = ["build", "k", "--out", "out", "--arch", "sm_90", "--no-cubin", ...options];
  const { code, stderr } = await workspace.tri(build, { main: REAL_MAIN });
  assertEquals(code, 0, stderr);
  return workspace;
}

/** Moves the program away from all that it was made of, and runs it. */
async function runElsewhere(workspace: Workspace): Promise<string> {
  using elsewhere = new Workspace();
  Deno.renameSync(`${workspace.path}/app`, `${elsewhere.path}/app`);
  for (const name of ["out", "k", "main.ts"]) workspace.remove(name);
  const { stdout, stderr } = await new Deno.Command(`${elsewhere.path}/app`).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

function holds(workspace: Workspace, text: string): boolean {
  // One character per byte.
  return new TextDecoder("latin1").decode(Deno.readFileSync(`${workspace.path}/app`)).includes(
    text,
  );
}

for (
  const [title, build, options] of [
    ["with images in the wrapper (--embed)", ["--embed"], []],
    ["with images beside it (--include)", [], ["--include", "out/twice"]],
  ] as const
) {
  Deno.test({
    name: `deno compile makes a program ${title}` +
      (missing === undefined ? "" : ` [skipped: ${missing}]`),
    ignore: missing !== undefined,
    fn: async () => {
      using workspace = await project(...build);
      assertEquals(await compile(workspace.path, options, false), "");
      assertEquals(await runElsewhere(workspace), "2 4 6\n");
    },
  });
}

Deno.test({
  name:
    "deno compile puts the image of a wrapper into the program by --embed or --include, and else not",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using beside = await project();
    const image = beside.read("out/twice/twice.sm_90.ptx");
    const line = image.slice(
      image.indexOf(".visible"),
      image.indexOf("(", image.indexOf(".visible")),
    );
    assertEquals(await compile(beside.path, [], true), "");
    assert(holds(beside, "defineKernel"));
    assert(!holds(beside, line));
    assertEquals(await compile(beside.path, ["--include", "out/twice"], true), "");
    assert(holds(beside, line));
    using within = await project("--embed");
    const text = /"sm_\w+\.ptx":\s*"([^"]{100})/.exec(within.read("out/twice.ts"))?.[1];
    assert(text !== undefined);
    assertEquals(await compile(within.path, [], true), "");
    assert(holds(within, text));
  },
});
