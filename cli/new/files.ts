/** The files of `tri new`: a kernel, its test and its benchmark, and a project around them. */
import { VERSION } from "../version.ts";
import { packageScript } from "./package_script.ts";

/** A new kernel. */
export interface NewKernel {
  /** In Triton-C and in paths. */
  readonly kernel: string;
  /** What the wrapper exports. */
  readonly wrapper: string;
}

/** Texts by path from the project's root. */
export type Files = ReadonlyMap<string, string>;

/** Names in the templates beside the kernel's own; a kernel with such a name would shadow it. */
export const TEMPLATE_WORDS: ReadonlySet<string> = new Set([
  ...[
    "Array",
    "assert",
    "benchmark",
    "Deno",
    "test",
    "Device",
    "device",
    "factor",
    "Float32Array",
    "i",
  ],
  ...["index", "keep", "Math", "n", "out", "result", "size", "values", "x", "y"],
]);

/** What the tests of a project are run by: Deno, or `node:test`, which every Node and Bun run in JavaScript. */
export type Host = "deno" | "node";

const EXTENSIONS: Readonly<Record<Host, string>> = { deno: "ts", node: "js" };

/** Kernel, test and benchmark. */
export function kernelFiles(names: NewKernel, host: Host): Files {
  const { kernel } = names;
  const extension = EXTENSIONS[host];
  return new Map([
    [`kernels/${kernel}.tc`, kernelText(names)],
    [`tests/${kernel}_test.${extension}`, testText(names, host)],
    [`bench/${kernel}.${extension}`, benchmarkText(names, extension)],
  ]);
}

/** How a project is made. */
export interface ProjectOptions {
  /** It has what makes an npm package of it. */
  readonly publishable: boolean;
  /** The checkout of tri that it uses in place of the published package, if any: an absolute path. */
  readonly checkout: string | undefined;
}

/** The project around them. */
export function projectFiles({ kernel, wrapper }: NewKernel, options: ProjectOptions): Files {
  const { publishable } = options;
  const settings = projectSettings(kernel, options);
  return new Map([
    ["deno.json", `${JSON.stringify(settings, null, 2)}\n`],
    [".gitignore", `generated/\n${publishable ? "dist/\nnpm/\n" : ""}`],
    ["README.md", readmeText(kernel, wrapper, options)],
    ...(publishable ? [["scripts/npm.ts", packageScript()] as const] : []),
  ]);
}

function kernelText({ kernel }: NewKernel): string {
  return `#pragma tri variants TYPE in {float, half}
#pragma tri configs BLOCK in {512, 1024, 2048}

// Multiplies a vector by a number: Y[i] = factor * X[i].
__global__ void ${kernel}(TYPE *X, TYPE *Y, float factor, int N) {
  int r[BLOCK] = get_program_id(0) * BLOCK + 0 ... BLOCK;
  bool inside[BLOCK] = r < N;
  *?(inside) (Y + r) = factor * *?(inside) (X + r);
}
`;
}

function testText({ kernel, wrapper }: NewKernel, host: Host): string {
  const [imported, define] = host === "deno"
    ? ["", "Deno.test"]
    : [`import { test } from "node:test";\n`, "test"];
  // Node 20 has no `using`.
  const keyword = host === "deno" ? "using" : "const";
  return `import assert from "node:assert/strict";
${imported}import { Device } from "@tri/tri/ffi";
import { ${wrapper} } from "../generated/${kernel}.${EXTENSIONS[host]}";

${define}("${wrapper} multiplies vectors of any length by a number", async () => {
  // The GPU if there is one, else the emulator, which also finds accesses beside the tensors.
  ${keyword} device = Device.open();
  for (const size of [1, 1000, 4099]) {
    const values = Float32Array.from({ length: size }, () => Math.random() * 2 - 1);
    ${keyword} x = device.tensor(values, [size]);
    ${keyword} y = ${wrapper}(x, { factor: 3 });
    const result = await y.read();
    values.forEach((value, i) => assert.equal(result[i], Math.fround(3 * value)));
  }
});
`;
}

function benchmarkText({ kernel, wrapper }: NewKernel, extension: string): string {
  return `import { benchmark } from "@tri/tri/bench";
import { ${wrapper} } from "../generated/${kernel}.${extension}";

export default benchmark({
  name: "${kernel}",
  title: "${wrapper}, float32",
  x: { names: ["N"], values: [1e5, 1e6, 1e7, 1e8] },
  measure: { unit: "GB/s", bytes: (n) => 2 * 4 * n },
  inputs: ({ device, x: n, keep }) => ({
    x: keep(device.zeros("float32", [n])),
    out: keep(device.empty("float32", [n])),
  }),
  lines: {
    ours: { label: "tri", prepare: ({ x, out }) => ${wrapper}.prepare(x, { factor: 3, out }) },
  },
});
`;
}

const ASSEMBLERS = [
  "ptxas",
  ...["/usr/local/cuda", "/usr/lib/nvidia-cuda-toolkit", "/opt/cuda"].map((at) =>
    `${at}/bin/ptxas`
  ),
];

const TOOLS = [...ASSEMBLERS, ...ASSEMBLERS.map((path) => path.replace("ptxas", "nvdisasm"))];

function projectSettings(
  name: string,
  { publishable, checkout }: ProjectOptions,
): Record<string, unknown> {
  const packageTask = {
    npm: {
      description: "The kernels as an npm package: a tarball in npm/",
      command: "deno run -q -P=npm scripts/npm.ts",
    },
  };
  const packageSet = {
    npm: { read: true, write: ["./npm"], run: ["deno", "npm"], env: true },
  };
  const writable = ["generated", ...publishable ? ["dist"] : [], "kernels", "tests", "bench"];
  return {
    ...(publishable
      ? { name: name.replaceAll("_", "-"), version: "0.1.0", exports: "./generated/mod.ts" }
      : {}),
    tasks: {
      tri: {
        description: "The tri command: deno task tri --help",
        command: "deno run -q -P=tri @tri/tri/cli",
      },
      build: {
        description: "Compile kernels/ into generated/",
        command: "deno task -q tri build kernels --out generated",
      },
      test: {
        description: "Build, then test on the GPU or the emulator",
        command: "deno task -q build && deno test -P=gpu tests/",
      },
      tune: {
        description: "With a GPU: times configurations, for the next build: deno task tune kernels",
        command: "deno run -q -P=tune @tri/tri/cli tune",
      },
      bench: {
        description: `With a GPU: deno task bench bench/${name}.ts`,
        command: "deno task -q build && deno run -q -P=bench @tri/tri/cli bench",
      },
      ...(publishable ? packageTask : {}),
    },
    permissions: {
      tri: {
        read: true,
        write: writable.map((folder) => `./${folder}`),
        run: TOOLS,
        env: true,
      },
      tune: { read: true, write: ["./kernels"], run: TOOLS, env: true, ffi: true },
      gpu: { read: true, env: true, ffi: true },
      bench: { read: true, write: ["./generated", "./bench"], env: true, ffi: true },
      ...(publishable ? packageSet : {}),
    },
    imports: { "@tri/tri": `jsr:@tri/tri@^${VERSION}` },
    ...(checkout === undefined ? {} : { links: [checkout] }),
    compilerOptions: { strict: true },
    fmt: { lineWidth: 100 },
    exclude: ["generated", "dist", "npm"],
  };
}

function readmeText(
  kernel: string,
  wrapper: string,
  { publishable, checkout }: ProjectOptions,
): string {
  const publishing = `
\`deno task npm\` makes a package for Node, Bun and Deno, a tarball in \`npm/\`. It needs the run time
\`@tri/tri\` and nothing else:

\`\`\`js
import { Device } from "@tri/tri";
import { ${wrapper} } from "${kernel.replaceAll("_", "-")}";

const device = Device.open();
const y = ${wrapper}(device.tensor(new Float32Array([1, 2, 3])), { factor: 2 });
console.log((await y.read()).join(" ")); // 2 4 6
\`\`\`
`;
  const linked = `
\`links\` in \`deno.json\` names the checkout of tri that made this project, which takes the place of
the published package. Remove it to use the published one.
`;
  return `# ${kernel}

- \`deno task test\` builds \`kernels/\` into typed wrappers and tests them, on a GPU or on the
  emulator.
- \`deno task tri build kernels --watch\` builds whenever a file changes.
- \`deno task tune kernels\` times the configurations on a GPU; the next build takes the fastest.
- \`deno task bench bench/${kernel}.ts\` times the kernel on a GPU; \`--save bench\` keeps the figures
  and draws them.
${publishable ? publishing : ""}${checkout === undefined ? "" : linked}`;
}
