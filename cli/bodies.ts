/** BODIES: what each command does, loaded when it runs, so that `--help` loads none of them. */
import type { CommandBody } from "./command.ts";
import type { CommandName } from "./words/commands.ts";

export const BODIES: Readonly<Record<CommandName, () => Promise<CommandBody>>> = {
  build: async () => (await import("./build/command.ts")).runBuild,
  check: async () => (await import("./diagnostics/check_command.ts")).runCheck,
  fmt: async () => (await import("./fmt/command.ts")).runFmt,
  inspect: async () => (await import("./inspect/command.ts")).runInspect,
  lsp: async () => (await import("./lsp/command.ts")).runLsp,
  debug: async () => (await import("./debug/command.ts")).runDebug,
  config: async () => (await import("./project/config_command.ts")).runConfig,
  cache: async () => (await import("./remote/cache_command.ts")).runCache,
  new: async () => (await import("./new/command.ts")).runNew,
  completions: async () => (await import("./completions/command.ts")).runCompletions,
  explain: async () => (await import("./explain/command.ts")).runExplain,
  bench: async () => (await import("./bench/command.ts")).runBench,
  test: async () => (await import("./test/command.ts")).runTest,
  tune: async () => (await import("./tune/command.ts")).runTune,
  doc: async () => (await import("./doc/command.ts")).runDoc,
  doctor: async () => (await import("./tools/doctor_command.ts")).runDoctor,
};
