/** Modules of the VS Code extension, loaded with an editor that tests make up. */

const FOLDER = new URL("../../editors/vscode/", import.meta.url);

/** A file of the extension, as text. */
export const textOfExtension = (file: string): string =>
  Deno.readTextFileSync(new URL(file, FOLDER));

/** What a module of the extension exports; `modules` are those that are not its own files. */
export function loadModule(
  file: string,
  modules: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const exports: Record<string, unknown> = {};
  const load = (name: string): unknown =>
    name.startsWith("./") ? loadModule(name.slice(2), modules) : modules[name];
  new Function("require", "exports", textOfExtension(file))(load, exports);
  return exports;
}
