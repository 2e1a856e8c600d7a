/** BODIES: what each command does, loaded when it runs, so that `--help` loads none of them. */
import type { CommandBody } from "./command.ts";
import type { CommandName } from "./commands.ts";

export const BODIES: Readonly<Record<CommandName, () => Promise<CommandBody>>> = {
  build: async () => (await import("./build/command.ts")).runBuild,
  check: async () => (await import("./check_command.ts")).runCheck,
  fmt: async () => (await import("./fmt_command.ts")).runFmt,
  inspect: async () => (await import("./inspect_command.ts")).runInspect,
  lsp: async () => (await import("./lsp_command.ts")).runLsp,
  config: async () => (await import("./config_command.ts")).runConfig,
  cache: async () => (await import("./cache_command.ts")).runCache,
  new: async () => (await import("./new_command.ts")).runNew,
  completions: async () => (await import("./completions_command.ts")).runCompletions,
  explain: async () => (await import("./explain_command.ts")).runExplain,
  bench: async () => (await import("./bench_command.ts")).runBench,
  test: async () => (await import("./test_command.ts")).runTest,
  tune: async () => (await import("./tune/command.ts")).runTune,
  doc: async () => (await import("./doc_command.ts")).runDoc,
  doctor: async () => (await import("./doctor_command.ts")).runDoctor,
};
