import { commandRow, COMMANDS, isCommand } from "../../../cli/words/commands.ts";
import { optionRow, OPTIONS } from "../../../cli/words/options.ts";
import { VERSION } from "../../../cli/version.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { fakePtxas, REAL_MAIN, Workspace } from "../support/tri_process.ts";

const NO_PERMISSIONS = { main: REAL_MAIN, permissions: [] };

Deno.test("tri --help needs no permission and names every command", async () => {
  using workspace = new Workspace();
  for (const args of [[], ["--help"]]) {
    const { code, stdout, stderr } = await workspace.process(args, NO_PERMISSIONS);
    assertEquals([code, stderr], [0, ""]);
    for (const name of Object.keys(COMMANDS)) assertStringIncludes(stdout, `  ${name}`);
  }
});

Deno.test("tri COMMAND --help names every option of the command", async () => {
  using workspace = new Workspace();
  for (const name of Object.keys(COMMANDS).filter(isCommand)) {
    const { code, stdout } = await workspace.tri([name, "--help"]);
    assertEquals(code, 0);
    for (const option of commandRow(name).options) assertStringIncludes(stdout, `--${option}`);
  }
});

Deno.test("OPTIONS are all used by a command, or by tri itself", () => {
  const used = new Set(
    Object.keys(COMMANDS).filter(isCommand).flatMap((name) => [...commandRow(name).options]),
  );
  const unused = Object.keys(OPTIONS).filter((name) =>
    ![...used].some((option) => option === name)
  );
  assertEquals(unused, ["version"], "name the option in cli/words/commands.ts");
  for (const option of used) {
    const { type, value } = optionRow(option);
    assertEquals(type === "text", value !== undefined, option);
  }
});

Deno.test("tri --version prints the version of deno.json", async () => {
  using workspace = new Workspace();
  const { code, stdout } = await workspace.process(["--version"], NO_PERMISSIONS);
  assertEquals([code, stdout], [0, `tri ${VERSION}\n`]);
});

Deno.test("tri exits with 2 for an unknown command or option and suggests the nearest", async () => {
  using workspace = new Workspace();
  const command = await workspace.tri(["chekc"]);
  assertEquals([command.code, command.stdout], [2, ""]);
  assertEquals(command.stderr, "error: Unknown command: chekc\nDid you mean check?\n");
  const option = await workspace.tri(["check", "--jsno"]);
  assertEquals(option.code, 2);
  assertEquals(option.stderr, "error: tri check has no option --jsno\nDid you mean --json?\n");
});

Deno.test("tri check shows errors with their location and exits with 1", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel x\n", "k/b.tc": "\nerror bad thing\n" });
  const { code, stdout, stderr } = await workspace.tri(["check", "k"]);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, "error[E2001]: bad thing\n --> k/b.tc:2:1");
  assertStringIncludes(stderr, "1 error");
  assert(!stderr.includes("\x1b["), "no colours in a pipe");
});

Deno.test("tri check says that all is well, and warnings are no failure without --werror", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\n" });
  const fine = await workspace.tri(["check"]);
  assertEquals([fine.code, fine.stderr], [0, "1 file checked, nothing to report\n"]);
  workspace.write("a.tc", "warn odd\n");
  assertEquals((await workspace.tri(["check"])).code, 0);
  assertEquals((await workspace.tri(["check", "--werror"])).code, 1);
});

Deno.test("tri check --json prints one document", async () => {
  using workspace = new Workspace({ "a.tc": "error bad\n" });
  const { code, stdout, stderr } = await workspace.tri(["check", "--json"]);
  assertEquals([code, stderr], [1, ""]);
  assertEquals(JSON.parse(stdout), {
    schemaVersion: 1,
    ok: false,
    files: 1,
    diagnostics: [{ code: "E2001", message: "bad" }],
  });
});

Deno.test("tri inspect prints a phase on stdout and diagnostics on stderr", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\nerror bad\n" });
  const { code, stdout, stderr } = await workspace.tri(["inspect", "a.tc", "--stage", "tokens"]);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "tokens of a.tc for sm_90");
  assertStringIncludes(stderr, "bad");
});

Deno.test("tri inspect refuses an unknown phase and more than one file", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel x\n", "k/b.tc": "kernel y\n" });
  const phase = await workspace.tri(["inspect", "k/a.tc", "--stage", "token"]);
  assertEquals([phase.code, phase.stderr], [
    2,
    "error: --stage token: not one of tokens, ast, types, ir, views, plan, layout, ptx, sass, report\nDid you mean tokens?\n",
  ]);
  assertEquals((await workspace.tri(["inspect", "k"])).code, 2);
  assertEquals((await workspace.tri(["inspect"])).code, 2);
});

const REPORT = `printf '\\177ELF'; cat >&2 <<'END'
ptxas info    : Compiling entry function 'x' for 'sm_80'
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 24 registers, 4096 bytes smem
END`;

Deno.test("tri inspect --stage report tabulates what ptxas found", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\n" });
  workspace.writeProgram(
    "bin/ptxas",
    fakePtxas({ version: "99.1", archs: ["sm_80"], assemble: REPORT }),
  );
  const { code, stdout } = await workspace.tri(
    ["inspect", "a.tc", "--stage", "report", "--arch", "sm_80"],
    { env: { PATH: `${workspace.path}/bin:/bin` } },
  );
  assertEquals(code, 0);
  assertEquals(
    stdout,
    "instance  arch   registers  shared  stack  spill stores  spill loads  " +
      "blocks per SM  warps per SM  occupancy\n" +
      "x         sm_80         24    4096     16             8            4  " +
      "           16            64      100 %\n\n" +
      "x (sm_80) was not run: Argument grid of x is missing: expected a launch grid, because neither " +
      "the kernel's code nor a pragma says it\n",
  );
});

Deno.test("tri inspect --stage sass runs nvdisasm, or exits with 3 without one", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\n", "generated/mod.ts": "" });
  const ptxas = workspace.writeProgram(
    "bin/ptxas",
    fakePtxas({ version: "99.1", archs: ["sm_80"] }),
  );
  const args = ["inspect", "a.tc", "--stage", "sass", "--arch", "sm_80"];
  const env = { PATH: `${workspace.path}/bin:/bin` };
  const permissions = [
    "--allow-read",
    "--allow-env",
    // nvdisasm reads no pipe: the image has to lie in a file.
    `--allow-write=${workspace.path}/generated`,
    `--allow-run=${ptxas}`,
  ];
  const without = await workspace.tri(args, { env, permissions });
  assertEquals(without.code, 3);
  assertStringIncludes(without.stderr, "Install the CUDA toolkit's nvdisasm");
  const nvdisasm = workspace.writeProgram("bin/nvdisasm", 'printf "SASS of: "; cat "$2"\n');
  const { code, stdout } = await workspace.tri(args, {
    env,
    permissions: [...permissions.slice(0, 3), `--allow-run=${ptxas},${nvdisasm}`],
  });
  assertEquals([code, stdout], [0, "// x for sm_80\nSASS of: \x7fELFimage 99.1 -arch=sm_80\n"]);
  assertEquals([...workspace.files("generated").keys()], ["generated/mod.ts"]);
});

Deno.test("tri inspect --stage report runs entries, then exits with 3, where no assembler fits", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\n" });
  const { code, stdout, stderr } = await workspace.tri(["inspect", "a.tc", "--stage", "report"], {
    permissions: ["--allow-read"],
  });
  assertEquals(code, 3);
  assertStringIncludes(stdout, "x (sm_90) was not run: ");
  assertStringIncludes(stderr, "no ptxas found");
});

Deno.test("tri doctor works with no permission but reading and says what is missing", async () => {
  using workspace = new Workspace();
  const { code, stdout, stderr } = await workspace.tri(["doctor"], {
    permissions: ["--allow-read"],
  });
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, `Deno ${Deno.version.deno}`);
  assertStringIncludes(stdout, "none: tri may not load the NVIDIA driver");
  assertStringIncludes(stdout, "none: tri may not load NCCL");
  assertStringIncludes(stdout, "Device.open() selects tri emulator (sm_90), because ");
  assertStringIncludes(stdout, "Cubins cannot be assembled for sm_70, sm_75, sm_80");
});

Deno.test("tri doctor says what TRI_DEVICE makes of Device.open()", async () => {
  using workspace = new Workspace();
  const run = async (device: string): Promise<string> => {
    const { code, stdout } = await workspace.tri(["doctor"], {
      env: { TRI_DEVICE: device },
      permissions: ["--allow-read", "--allow-env"],
    });
    assertEquals(code, 0);
    return stdout;
  };
  assertStringIncludes(await run("emulator"), "because TRI_DEVICE is emulator.");
  assertStringIncludes(await run("tpu"), "Device.open() fails: Argument TRI_DEVICE: expected ");
});

Deno.test("tri doctor --json has the shape that scripts rely on", async () => {
  using workspace = new Workspace();
  workspace.writeProgram("bin/ptxas", fakePtxas({ version: "99.1", archs: ["sm_80"], ptx: "9.1" }));
  const { stdout } = await workspace.tri(["doctor", "--json"], {
    env: { PATH: `${workspace.path}/bin:/bin` },
    permissions: ["--allow-read", "--allow-env", `--allow-run=${workspace.path}/bin/ptxas`],
  });
  const json = JSON.parse(stdout);
  assertEquals(Object.keys(json), [
    "schemaVersion",
    "tri",
    "deno",
    "runtime",
    "system",
    "permissions",
    "gpus",
    "nccl",
    "emulator",
    "device",
    "assemblers",
    "disassemblers",
    "withoutCubin",
  ]);
  assertEquals(json.assemblers.usable, [{
    path: `${workspace.path}/bin/ptxas`,
    version: "99.1.1",
    archs: ["sm_80"],
    ptx: 91,
  }]);
  assertEquals(json.gpus.kind, "none");
  assert(json.emulator.includes("sm_90"));
  assertEquals(json.device, {
    kind: "device",
    name: "tri emulator (sm_90)",
    why: "the program may not load the NVIDIA driver (--allow-ffi)",
  });
  assert(json.withoutCubin.includes("sm_70") && !json.withoutCubin.includes("sm_80"));
});

Deno.test("tri --arch native without a GPU driver at hand exits with 3 and names the way out", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\n" });
  const { code, stderr } = await workspace.process(["check", "--arch", "native"]);
  assertEquals(code, 3);
  assertStringIncludes(stderr, "tri may not load the NVIDIA driver");
  assertStringIncludes(stderr, "--arch sm_90");
});

Deno.test("tri build exits with 3 where it may not write, and says how to allow it", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\n" });
  const { code, stderr } = await workspace.process(["build", "--no-cubin", "--out", "other"]);
  assertEquals(code, 3);
  assertStringIncludes(stderr, "Requires write access");
  assertStringIncludes(stderr, "--allow-write");
  assert(!stderr.includes("    at "), "no stack trace");
});

Deno.test("tri check reports a source that is no text once (E1001), and says which has no kernel", async () => {
  using workspace = new Workspace({ "b.tc": "kernel x\n", "c.tc": "" });
  Deno.writeFileSync(`${workspace.path}/a.tc`, Uint8Array.of(0x7f, 0x45, 0xff, 0, 0xfe));
  const binary = await workspace.tri(["check"]);
  assertEquals(binary.code, 1);
  assertStringIncludes(binary.stderr, "error[E1001]: the byte 0xff is not UTF-8\n --> a.tc:1:3");
  assertStringIncludes(binary.stderr, "1 error\n");
  workspace.remove("a.tc");
  const fine = await workspace.tri(["check"]);
  assertStringIncludes(fine.stderr, "nothing to report\nwithout a kernel: c.tc\n");
});

Deno.test("tri check looks at no source while deno.json is wrong", async () => {
  using workspace = new Workspace({ "a.tc": "error TM is missing\n", "deno.json": '{"tri": 5}' });
  const { code, stderr } = await workspace.tri(["check"]);
  assertEquals([code, stderr.match(/error\[\w+\]/g)], [1, ["error[E9020]"]]);
});

Deno.test("tri --version --json prints the versions of tri and of what runs it", async () => {
  using workspace = new Workspace();
  assertStringIncludes((await workspace.tri(["--version"])).stdout, "tri ");
  const { code, stdout } = await workspace.tri(["--version", "--json"]);
  const { schemaVersion, tri, deno } = JSON.parse(stdout);
  assertEquals([code, schemaVersion, deno], [0, 1, Deno.version.deno]);
  assertEquals(`tri ${tri}\n`, (await workspace.tri(["-V"])).stdout);
});

Deno.test("tri says a failure as JSON where --json is given", async () => {
  using workspace = new Workspace();
  const { code, stdout } = await workspace.tri(["check", "nowhere", "--json"]);
  assertEquals(code, 2);
  assertEquals(JSON.parse(stdout), {
    schemaVersion: 1,
    ok: false,
    error: { message: "No such file or folder: nowhere" },
  });
});

Deno.test("tri check opens no source that is a device, and none that is larger than memory", async () => {
  using workspace = new Workspace();
  Deno.symlinkSync("/dev/zero", `${workspace.path}/zero.tc`);
  assertEquals((await workspace.tri(["check", "zero.tc"])).code, 2);
  const large = Deno.openSync(`${workspace.path}/large.tc`, { create: true, write: true });
  large.truncateSync(2 ** 40);
  large.close();
  const { code, stderr } = await workspace.tri(["check", "large.tc"]);
  assertEquals([code, stderr.includes("is larger than 64 MiB")], [2, true]);
});

Deno.test("tri passes --max-tile-elements on, if it is a number", async () => {
  using workspace = new Workspace({ "a.tc": "kernel x\n" });
  assertEquals((await workspace.tri(["check", "--max-tile-elements", "64"])).code, 0);
  const { code, stderr } = await workspace.tri(["check", "--max-tile-elements", "many"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "error: --max-tile-elements many: not a number of elements\n");
});
