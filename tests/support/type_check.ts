/**
 * Types of programs that tests write. Deno keeps what TypeScript found by the first module of a check, for one set of settings:
 * so checks with the same settings begin with the same module of the run time, and only the first of a run reads its sources,
 * which takes three times as long as the rest.
 */
const OWN_SETTINGS_FIRST = new URL("../../mod.ts", import.meta.url).pathname;
const REPOSITORY_FIRST = new URL("../../ffi/mod.ts", import.meta.url).pathname;
const REPOSITORY = new URL("../../deno.json", import.meta.url).pathname;

/** What `deno check` says of programs in a folder; empty: nothing is wrong. The settings are the folder's or the repository's. */
export async function typeErrors(
  cwd: string,
  programs: readonly string[],
  settings: "own" | "repository",
): Promise<string> {
  const first = settings === "own"
    ? [OWN_SETTINGS_FIRST]
    : ["--config", REPOSITORY, REPOSITORY_FIRST];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "-q", ...first, ...programs],
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  if (success) return "";
  return [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") ||
    "deno check failed";
}
