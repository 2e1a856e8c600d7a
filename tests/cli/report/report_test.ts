/** `tri inspect --stage report`: what entries did on the emulator. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { REAL_MAIN, type TriResult, Workspace } from "../support/tri_process.ts";

const test = testsInTurn(2);

const KERNELS = new URL("../../../kernels/", import.meta.url).pathname;

/** By a process that may start no ptxas. */
async function reportAlone(workspace: Workspace, ...args: readonly string[]): Promise<TriResult> {
  return await workspace.tri(["inspect", ...args, "--stage", "report"], {
    main: REAL_MAIN,
    permissions: ["--allow-read"],
  });
}

async function report(workspace: Workspace, ...args: readonly string[]): Promise<TriResult> {
  return await workspace.tri(["inspect", ...args, "--stage", "report"], { main: REAL_MAIN });
}

/** Rows of a printed table by their first cell; the table begins after a line. */
function tableAfter(text: string, line: string): Map<string, Readonly<Record<string, string>>> {
  const [head = "", ...rows] = text.slice(text.indexOf(line)).split("\n\n")[0]?.split("\n").slice(
    1,
  ) ?? [];
  const cells = (row: string): string[] => row.trim().split(/ {2,}/);
  const columns = cells(head);
  return new Map(
    rows.filter((row) => row !== "").map((row) => {
      const values = cells(row);
      return [
        values[0] ?? "",
        Object.fromEntries(columns.map((name, i) => [name, values[i] ?? ""])),
      ];
    }),
  );
}

test("tri inspect --stage report counts what the transposition does: no conflicts, ideal sectors", async () => {
  using workspace = new Workspace();
  const { code, stdout, stderr } = await reportAlone(
    workspace,
    `${KERNELS}transpose.tc`,
    "--variant",
    "TYPE=float",
  );
  // Without ptxas registers are not known, but all else is.
  assertEquals(code, 3);
  assertStringIncludes(stderr, "no ptxas found");
  const memory = tableAfter(stdout, "Run once on the emulator");
  const bytes = 2 * 256 * 256 * 4;
  const { blocks: _blocks, barriers: _barriers, ...row } = memory.get("transpose_a16") ?? {};
  assertEquals(row, {
    "instance": "transpose_a16",
    "arch": "sm_90",
    "arguments": "M=256 N=256 ldx=256 ldy=256",
    // In and out, 16 bytes a lane.
    "global requests": String(bytes / 16 / 32),
    "sectors": String(bytes / 32),
    "ideal": String(bytes / 32),
    "shared requests": String(bytes / 16 / 32),
    "bank conflicts": "0",
    "divergent branches": "0",
  });
  const counts = tableAfter(stdout, "Instructions of a thread").get("transpose_a16") ?? {};
  assertEquals(counts["global memory"], counts["shared memory"]);
  const { all, instance: _instance, arch: _arch, ...classes } = counts;
  const sum = Object.values(classes).reduce((total, count) => total + Number(count), 0);
  assert(Math.abs(sum - Number(all)) < 1, stdout);
});

Deno.test("tri inspect --stage report takes sizes, and says which entries they do not suit", async () => {
  using workspace = new Workspace();
  const { stdout } = await report(
    workspace,
    `${KERNELS}transpose.tc`,
    "--variant",
    "TYPE=float",
    "--size",
    "M=50,N=37",
    "--size",
    "ldy=64",
  );
  const memory = tableAfter(stdout, "Run once on the emulator");
  assertEquals([...memory.keys()], ["transpose"]);
  assertEquals(memory.get("transpose")?.["arguments"], "M=50 N=37 ldx=37 ldy=64");
  assertMatch(stdout, /^transpose_a16 \(sm_90\) was not run: .*expected M % 4 == 0, got M = 50$/m);
});

test("tri inspect --stage report --json has the whole profile of each entry", async () => {
  using workspace = new Workspace();
  const { code, stdout } = await reportAlone(
    workspace,
    `${KERNELS}transpose.tc`,
    "--variant",
    "TYPE=half",
    "--configs",
    "first",
    "--json",
  );
  const { entries, missing } = JSON.parse(stdout);
  assertEquals([code, entries.length, missing.length], [3, 2, 1]);
  const [, aligned] = entries;
  assertEquals([aligned.kernel, aligned.instance, aligned.arch, aligned.resources], [
    "transpose",
    "transpose_a16",
    "sm_90",
    null,
  ]);
  assertEquals(aligned.arguments, { M: 256, N: 256, ldx: 256, ldy: 256 });
  assertEquals(aligned.profile.global.sectors, 2 * 256 * 256 * 2 / 32);
  assertEquals(aligned.profile.global.sectors, aligned.profile.global.idealSectors);
  assertEquals(aligned.profile.shared.bankConflicts, 0);
});

const SCATTER = `
__global__ void scatter(int *X, int *Y, int n) {
  int i[32] = get_program_id(0) * 32 + 0 ... 32;
  int *py[32] = Y + *(X + i);
  *py = i;
}
`;

test("tri inspect --stage report says why a kernel is not run whose contract says too little", async () => {
  using workspace = new Workspace({ "scatter.tc": SCATTER });
  const { stdout, stderr } = await reportAlone(workspace, "scatter.tc");
  assertStringIncludes(stderr, "no ptxas found");
  assertEquals(
    stdout.split("\n")[0],
    "scatter (sm_90) was not run: the size of X and Y is not known: " +
      "neither the code nor a pragma states it",
  );
});

Deno.test("tri inspect --stage report passes on what the emulator finds wrong", async () => {
  const kernel = SCATTER.replaceAll("\n__global__", "\n#pragma tri grid(1)\n__global__")
    .replace("Y +", "Y + 1000 +")
    .replace("#pragma", "#pragma tri tensor X : in int[n] strides [1]\n#pragma")
    .replace("#pragma", "#pragma tri tensor Y : out int[n] strides [1]\n#pragma");
  using workspace = new Workspace({ "scatter.tc": kernel });
  const { stdout } = await report(workspace, "scatter.tc", "--size", "n=32");
  assertMatch(stdout, /^scatter \(sm_90\) was not run: .*out of bounds/m);
});

Deno.test("tri inspect refuses sizes that are none, of unknown parameters, or for another phase", async () => {
  using workspace = new Workspace();
  const refused = async (...args: readonly string[]): Promise<string> => {
    const words = ["inspect", `${KERNELS}vector_add.tc`, ...args];
    const { code, stderr } = await workspace.tri(words, { main: REAL_MAIN });
    assertEquals(code, 2);
    return stderr;
  };
  const phase = ["--stage", "report"];
  assertStringIncludes(await refused(...phase, "--size", "N"), "--size N: not a name and a number");
  assertStringIncludes(
    await refused(...phase, "--size", "M=2"),
    "--size M=2: no kernel here has a parameter M that is a number\nThere is N.",
  );
  assertStringIncludes(await refused("--size", "N=2"), "--size needs --stage report");
  assertStringIncludes(await refused("--json"), "--json needs --stage report");
});
