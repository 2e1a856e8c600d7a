import { assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { Workspace } from "../support/tri_process.ts";

const FILES = {
  "deno.json": `{ "tri": { "files": { "k/a.tc": {
    "defines": { "STEP": 2, "WIDE": 1, "OLD": null },
    "kernels": { "one": { "grid": ["cdiv(M, TM)", 1], "options": { "num_warps": 4 } } }
  } } } }`,
  "k/a.tc": "kernel one\n",
  "k/b.tc": "kernel two\n",
};

Deno.test("tri config shows settings in force and where each comes from; the command line is stronger", async () => {
  using workspace = new Workspace(FILES);
  const args = ["config", "k", "--arch", "sm_80,sm_90", "-DSTEP=3", "-U", "NEW", "--grid", "7"];
  const env = { PATH: "/bin", TRI_PTXAS: "/opt/ptxas" };
  const { code, stdout, stderr } = await workspace.tri(args, { env });
  assertEquals([code, stderr], [0, `project: ${workspace.path} (deno.json)\n`]);
  const rows = stdout.trimEnd().split("\n").map((line) => line.split(/ {2,}/));
  assertEquals(rows, [
    ["file", "setting", "value", "from"],
    ["*", "targets", "sm_80 sm_90", "--arch"],
    ["*", "TRI_PTXAS", "/opt/ptxas", "environment"],
    ["k/a.tc", "macro WIDE", "1", "deno.json"],
    ["k/a.tc", "macro OLD", "(undefined)", "deno.json"],
    ["k/a.tc", "macro STEP", "3", "-D"],
    ["k/a.tc", "macro NEW", "(undefined)", "-U"],
    ["k/a.tc", "pragma of one", "num_warps=4", "deno.json one.options"],
    ["k/a.tc", "pragma", "grid(7)", "--grid"],
    ["k/b.tc", "macro STEP", "3", "-D"],
    ["k/b.tc", "macro NEW", "(undefined)", "-U"],
    ["k/b.tc", "pragma", "grid(7)", "--grid"],
  ]);
});

Deno.test("tri config finds the settings of package.json, unless deno.json has some", async () => {
  const settings = (step: number): string =>
    `{ "tri": { "files": { "k/a.tc": { "defines": { "STEP": ${step} },
      "kernels": { "one": { "key": ["M"] } } } } } }`;
  const files = { "k/a.tc": "kernel one\n", "k/package.json": "{}", "package.json": settings(1) };
  using workspace = new Workspace(files);
  const read = async (): Promise<[string, string[]]> => {
    const { stdout } = await workspace.tri(["config", "k", "--json", "--arch", "sm_80"]);
    const { config, settings } = JSON.parse(stdout);
    const own = settings.filter(({ file }: { file: string }) => file === "k/a.tc");
    return [config, own.map(({ value, from }: Record<string, string>) => `${value}: ${from}`)];
  };
  const keyOf = (file: string): string => `key(M): ${file} one.key`;
  assertEquals(await read(), ["package.json", ["1: package.json", keyOf("package.json")]]);
  workspace.write("deno.json", "{}");
  assertEquals(await read(), ["package.json", ["1: package.json", keyOf("package.json")]]);
  workspace.write("deno.json", settings(2));
  assertEquals(await read(), ["deno.json", ["2: deno.json", keyOf("deno.json")]]);
  workspace.write("deno.json", "{}");
  workspace.write("package.json", '{ "tri": ');
  const { code, stderr } = await workspace.tri(["config", "k"]);
  assertEquals(code, 1);
  assertMatch(stderr, /E9020[^]*package\.json/);
});

Deno.test("tri config shows the remote cache without what proves who asks", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel one\n" });
  const env = {
    PATH: "/bin",
    TRI_REMOTE_CACHE: "https://cache.example.com/",
    TRI_REMOTE_CACHE_WRITE: "1",
    TRI_REMOTE_CACHE_TOKEN: "s3cret",
  };
  const { stdout } = await workspace.tri(["config", "k"], { env });
  assertMatch(
    stdout,
    /remote cache +https:\/\/cache\.example\.com, also stored +TRI_REMOTE_CACHE$/m,
  );
  assertEquals(stdout.includes("s3cret"), false);
});

Deno.test("tri config gives the same as JSON, and fails with 1 where deno.json has a mistake", async () => {
  using workspace = new Workspace(FILES);
  const json = JSON.parse((await workspace.tri(["config", "k", "--json"])).stdout);
  assertEquals([json.ok, json.config, json.diagnostics], [true, "deno.json", []]);
  assertEquals(json.settings[0].from, "default");
  assertEquals(json.settings.at(-1), {
    file: "k/a.tc",
    setting: "pragma of one",
    value: "num_warps=4",
    from: "deno.json one.options",
  });
  workspace.write("deno.json", '{ "tri": { "flies": {} } }');
  const { code, stdout, stderr } = await workspace.tri(["config", "k"]);
  assertEquals(code, 1);
  assertMatch(stderr, /^error\[E9020\]: Unknown key "flies"/);
  assertStringIncludes(stdout, "targets");
});
