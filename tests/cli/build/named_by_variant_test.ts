/** A file whose variants name its kernel, from the command to wrappers that run. */
import { assertEquals } from "../../support/assert.ts";
import { REAL_MAIN, Workspace } from "../support/tri_process.ts";

const KERNEL = `// Combines two vectors.
#pragma tri variant sum: NAME=add_up, OP=+
#pragma tri variant product: NAME=multiply, OP=*
__global__ void NAME(const float *X, const float *Y, float *Z, int n) {
  int r[64] = get_program_id(0) * 64 + 0 ... 64;
  *?(r < n) (Z + r) = *?(r < n) (X + r) OP *?(r < n) (Y + r);
}
`;
const PROGRAM = `import { Device } from "@tri/tri/ffi";
import { addUp, multiply } from "./out/mod.ts";

using device = Device.open({ device: "emulator" });
const [x, y] = [[1, 2, 3], [4, 5, 6]].map((row) => device.tensor(Float32Array.from(row), [3]));
for (const kernel of [addUp, multiply]) console.log((await kernel(x, y).read()).join(" "));
console.log(addUp.variants.join(), multiply.variants.join());
`;

Deno.test("tri build exports a wrapper for each name that variants give a kernel", async () => {
  using workspace = new Workspace({
    "k/two.tc": KERNEL,
    "main.ts": PROGRAM,
    "deno.json": JSON.stringify({
      links: [new URL("../../../", import.meta.url).pathname],
      imports: { "@tri/tri": "jsr:@tri/tri@^0.1.0" },
    }),
  });
  const build = ["build", "k", "--out", "out", "--arch", "sm_90", "--no-cubin"];
  const built = await workspace.tri(build, { main: REAL_MAIN });
  assertEquals(built.code, 0, built.stderr);
  assertEquals(
    [...workspace.files("out").keys()].filter((name) => name.endsWith(".ptx")).toSorted(),
    ["out/two/add_up.sm_90.ptx", "out/two/multiply.sm_90.ptx"],
  );
  const manifest: { sources: Record<string, object> } = JSON.parse(
    workspace.read("out/manifest.json"),
  );
  assertEquals(Object.keys(manifest.sources["two"] ?? {}), ["add_up", "multiply"]);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-check", "-A", "main.ts"],
    cwd: workspace.path,
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder();
  assertEquals(text.decode(stdout), "5 7 9\n4 10 18\nsum product\n", text.decode(stderr));
});
