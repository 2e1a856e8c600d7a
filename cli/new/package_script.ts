/** The script of a project made by `tri new --package`: it makes the npm package. */
import { VERSION } from "../version.ts";

/** Text of scripts/npm.ts. Its arguments go to `tri build`. */
export function packageScript(): string {
  return `/** The npm package of the kernels, a tarball in npm/. Arguments are those of \`tri build\`: \`deno task npm --arch sm_90\`. */
import config from "../deno.json" with { type: "json" };

/** The run time that wrappers import. As a peer there is one of it for all packages of kernels. */
const RUN_TIME = { "@tri/tri": "^${VERSION}" };

/** JavaScript with declarations; the fewest images, compressed. */
const FORM = ["--emit", "js", "--compact"];

const README = "README.md";

async function run(cwd: string, program: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(program, { args, cwd }).spawn().status;
  if (!success) Deno.exit(1);
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const copy = isDirectory ? copyTree : Deno.copyFile;
    await copy(\`\${from}/\${name}\`, \`\${to}/\${name}\`);
  }
}

await Deno.mkdir("npm", { recursive: true });
for await (const { name } of Deno.readDir("npm")) {
  await Deno.remove(\`npm/\${name}\`, { recursive: true });
}
// Declarations lead an editor to ../kernels, here as in the package, so the sources go along.
await run(".", "deno", "task", "-q", "tri", "build", "kernels", "--out", "dist", ...FORM, ...Deno.args);
await copyTree("kernels", "npm/kernels");
await copyTree("dist", "npm/dist");
await Deno.remove("npm/dist/.tri-build.json");
await Deno.copyFile(README, \`npm/\${README}\`);

const fields = {
  name: config.name,
  version: config.version,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.16" },
  exports: {
    ".": { types: "./dist/mod.d.ts", default: "./dist/mod.js" },
    "./*": { types: "./dist/*.d.ts", default: "./dist/*.js" },
    "./package.json": "./package.json",
  },
  files: ["dist", "kernels"],
  peerDependencies: RUN_TIME,
};
await Deno.writeTextFile("npm/package.json", \`\${JSON.stringify(fields, null, 2)}\\n\`);
await run("npm", "npm", "pack", "--silent");
`;
}
