/** Writes the page of the VS Code extension's panel, from the playground's views: `deno run -A scripts/vscode_panel.ts [FOLDER]`. */
import { bundlePanel } from "../playground/bundle.ts";

const ROOT = new URL("../", import.meta.url);

/** Writes `panel.js` and `panel.css` into a folder. */
export async function writePanel(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of await bundlePanel()) {
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
  const styles = ["playground/static/style.css", "playground/panel/panel.css"]
    .map((file) => Deno.readTextFileSync(new URL(file, ROOT)));
  await Deno.writeTextFile(`${folder}/panel.css`, styles.join("\n"));
}

if (import.meta.main) {
  await writePanel(Deno.args[0] ?? new URL("editors/vscode/dist", ROOT).pathname);
}
