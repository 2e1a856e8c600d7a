/** Which code of tri this is: what it makes is made again when the code changes. */
import { readdirSync, readFileSync } from "node:fs";
import { sha256 } from "./files/hash.ts";
import { VERSION } from "./version.ts";

/**
 * For cache keys. A released tri is its version; a checkout is the text of its modules, so that a change to
 * the compiler rebuilds everything.
 */
export function toolIdentity(): string {
  return identityOf(["cli/", "codegen/", "compiler/"]);
}

/** The same of what a bundle holds beside wrappers, and of what bundles it. */
export function runTimeIdentity(): string {
  return identityOf(["cli/", "compiler/", "emulator/", "ffi/"]);
}

const here = new URL(import.meta.url);

/** Whether this is the npm package `@tri/cli`, whose modules are bundled. */
export const IS_NPM_PACKAGE: boolean = !here.pathname.endsWith("/cli/identity.ts");

function identityOf(folders: readonly string[]): string {
  if (IS_NPM_PACKAGE || here.protocol !== "file:") return VERSION;
  const root = new URL("..", here);
  const modules = folders.flatMap((folder) => modulesIn(new URL(folder, root)));
  return `${VERSION}-${
    sha256(modules.map((url) => sha256(readFileSync(url))).join("\n")).slice(0, 16)
  }`;
}

function modulesIn(folder: URL): URL[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => a.name < b.name ? -1 : 1)
    .flatMap((entry) => {
      if (entry.isDirectory()) return modulesIn(new URL(`${entry.name}/`, folder));
      return entry.name.endsWith(".ts") ? [new URL(entry.name, folder)] : [];
    });
}
