/** The extension as `vsce` packages it, by the commands of editors/vscode/README.md. */
import * as path from "node:path";
import manifest from "../../editors/vscode/package.json" with { type: "json" };
import { assertEquals } from "../support/assert.ts";
import { triesLong } from "../support/sampled.ts";
import { install, npmTest } from "../support/tools/npm.ts";
import { must0, run } from "../support/tools/run_program.ts";
import { writePanel } from "../../scripts/vscode_panel.ts";
import { copyTree } from "../../scripts/npm/tarball.ts";

const TITLE = "the VS Code extension is packaged with its grammar and the client it needs";
const SOURCE = new URL("../../editors/vscode", import.meta.url).pathname;

/** vsce brings two hundred packages; what they read here seldom changes. */
await npmTest(TITLE, packageExtension, triesLong("the package for VS Code"));

async function packageExtension(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "tri-vsix-" });
  try {
    const [extension, tool] = [path.join(folder, "extension"), path.join(folder, "tool")];
    await copyTree(SOURCE, extension);
    await writePanel(path.join(extension, "dist"));
    await install(extension);
    await Deno.mkdir(tool);
    // Without one, npm installs into a folder above.
    await Deno.writeTextFile(path.join(tool, "package.json"), "{}\n");
    await install(tool, "@vscode/vsce@3");
    const vsce = path.join(tool, "node_modules/.bin/vsce");
    const file = path.join(folder, "triton-c.vsix");
    await must0(extension, vsce, "package", "--skip-license", "--out", file);
    const { output } = await run(extension, vsce, "ls");
    const files = new Set(output.split("\n"));
    const wanted = [
      manifest.main,
      ...manifest.contributes.grammars.map(({ path }) => path),
      "./language-configuration.json",
      "./pictures.js",
      "./dist/panel.js",
      "./dist/panel.css",
      "./package.json",
      "./node_modules/vscode-languageclient/package.json",
    ].map((name) => name.replace("./", ""));
    assertEquals(wanted.filter((name) => !files.has(name)), [], output);
    assertEquals((await Deno.readFile(file)).slice(0, 2), new TextEncoder().encode("PK"));
    // The module that extension.js asks for is one that `require` finds.
    const resolve = `require.resolve("vscode-languageclient/node")`;
    await must0(extension, "node", "--eval", resolve);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
