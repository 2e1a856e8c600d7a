/** OPTIONS: every option of `tri`, one row each, and the words that options take. */
import { COMPILER_PHASES } from "../tools/toolchain.ts";

export interface OptionRow {
  readonly type: "flag" | "text";
  readonly short?: string;
  /** The placeholder of the value in the help. */
  readonly value?: string;
  readonly default?: string;
  readonly many?: true;
  /** The line after `#pragma tri` that the option corresponds to; such options obey `--kernel`. */
  readonly pragma?: (value: string) => string;
  /** The only values that there are. */
  readonly choices?: readonly string[];
  readonly help: string;
}

/** What `tri inspect` prints. */
export const PHASES = [...COMPILER_PHASES, "sass", "report"] as const;
export type Phase = (typeof PHASES)[number];

/** Where bundles run. */
export const PLATFORMS = ["deno", "node", "bun"] as const;
export type Platform = (typeof PLATFORMS)[number];

/** Shells with completion scripts. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** Ways to give diagnostics. */
export const FORMATS = ["pretty", "json", "sarif", "github"] as const;
export type Format = (typeof FORMATS)[number];

export const OPTIONS = {
  out: { type: "text", value: "DIR", default: "generated", help: "folder for the output" },
  arch: {
    type: "text",
    value: "LIST",
    many: true,
    default: "all",
    help: "architectures, e.g. sm_90,sm_80; all; native: the GPUs of this machine",
  },
  define: {
    type: "text",
    short: "D",
    value: "NAME[=VALUE]",
    many: true,
    help: "define a macro or compile-time parameter",
  },
  export: {
    type: "text",
    value: "KERNEL=NAME",
    many: true,
    help: "the name that wrappers export for a kernel",
  },
  undefine: { type: "text", short: "U", value: "NAME", many: true, help: "undefine a macro" },
  include: {
    type: "text",
    short: "I",
    value: "DIR",
    many: true,
    help: "folder to look for #include files",
  },
  kernel: {
    type: "text",
    value: "NAME",
    many: true,
    help: "the kernel options after it apply to this kernel only",
  },
  variant: {
    type: "text",
    value: "BINDINGS",
    many: true,
    pragma: (value) => `variant ${value}`,
    help: 'a combination of parameters that the caller selects, e.g. "TYPE=half"',
  },
  config: {
    type: "text",
    value: "BINDINGS",
    many: true,
    pragma: (value) => `config ${value}`,
    help: 'a combination that the tuner selects, e.g. "TM=64, TN=64; num_warps=4"',
  },
  configs: {
    type: "text",
    value: "WHICH",
    default: "tuned",
    choices: ["tuned", "all", "first"],
    help: "configurations to compile; tuned: the winners in NAME.tune.json, else the first",
  },
  grid: {
    type: "text",
    value: "EXPRS",
    many: true,
    pragma: (value) => `grid(${value})`,
    help: 'the launch grid, e.g. "cdiv(M, TM), cdiv(N, TN)"',
  },
  key: {
    type: "text",
    value: "NAMES",
    many: true,
    pragma: (value) => `key(${value})`,
    help: "parameters whose change re-selects the configuration",
  },
  "num-warps": {
    type: "text",
    value: "N",
    many: true,
    pragma: (value) => `num_warps=${value}`,
    help: "warps in a block",
  },
  "num-stages": {
    type: "text",
    value: "N",
    many: true,
    pragma: (value) => `num_stages=${value}`,
    help: "depth of software pipelining",
  },
  require: {
    type: "text",
    value: "EXPR",
    many: true,
    pragma: (value) => `require(${value})`,
    help: "a condition checked before each launch",
  },
  "max-tile-elements": {
    type: "text",
    value: "N",
    help: "the most elements of a tile (default: 1048576)",
  },
  debug: {
    type: "flag",
    help: "define __TRI_DEBUG__; cubins check assert and assume (the emulator always does)",
  },
  werror: { type: "flag", help: "treat warnings as errors" },
  "no-warn": { type: "text", value: "CODE", many: true, help: "turn a warning off, e.g. W1003" },
  warn: {
    type: "text",
    value: "CODE",
    many: true,
    help: "turn a warning on that is off by default",
  },
  embed: { type: "flag", help: "put the images into the wrapper modules" },
  compact: {
    type: "flag",
    help: "for packages: images that targets share once, few cubins, all compressed",
  },
  emit: {
    type: "text",
    value: "LANGUAGE",
    default: "ts",
    choices: ["ts", "js"],
    help: "ts: TypeScript wrappers; js: JavaScript, declarations, and maps from these to the .tc",
  },
  bundle: {
    type: "text",
    value: "FILE",
    help: "also write all wrappers, with run time and images, as one JavaScript module",
  },
  platform: {
    type: "text",
    value: "PLATFORM",
    default: "deno",
    choices: PLATFORMS,
    help: "where the bundle runs",
  },
  verify: {
    type: "flag",
    help: "check the intermediate code after every pass, to find a defect of tri",
  },
  after: {
    type: "text",
    value: "PASS",
    help: "print the functions after this pass instead of the output of a phase; '*': after each",
  },
  passes: {
    type: "text",
    value: "LIST",
    help: "of a FILE.ir: run these passes, e.g. cse,drop-dead, and print the functions after them",
  },
  time: { type: "flag", help: "print how long each pass takes, instead of the output of a phase" },
  "no-cubin": { type: "flag", help: "write PTX only; ptxas is not needed" },
  "remote-cache": {
    type: "text",
    value: "URL",
    help:
      "a cache of builds: a server that speaks Bazel's HTTP protocol, or a folder (file:///…); off: none",
  },
  "remote-cache-write": { type: "flag", help: "also store there what is built here" },
  jobs: {
    type: "text",
    short: "j",
    value: "N",
    help: "assemblers that run at once (default: the number of cores)",
  },
  check: { type: "flag", help: "write nothing; exit with 1 if a file would change" },
  watch: { type: "flag", help: "run again when a file changes, until Ctrl-C" },
  quiet: { type: "flag", short: "q", help: "print diagnostics and what went wrong, no summaries" },
  explain: { type: "flag", help: "print why each source is built" },
  force: { type: "flag", help: "rebuild what is up to date" },
  json: { type: "flag", help: "print one JSON document on stdout; with --watch one a line" },
  format: {
    type: "text",
    value: "FORMAT",
    default: "pretty",
    choices: FORMATS,
    help: "diagnostics as pretty text, as json (--json), as sarif 2.1.0, or as commands for github",
  },
  stage: {
    type: "text",
    value: "STAGE",
    default: "ptx",
    choices: PHASES,
    help: "what to print",
  },
  size: {
    type: "text",
    value: "NAME=N",
    many: true,
    help:
      "parameters of a run, e.g. M=512,N=300 (default: fits the contract); tune: once for each run",
  },
  rounds: {
    type: "text",
    value: "N",
    default: "25",
    help: "samples of each line at each point; lines are interleaved",
  },
  cache: {
    type: "text",
    value: "STATE",
    default: "hot",
    choices: ["hot", "cold"],
    help: "state of L2; hot: as the last call left it; cold: flushed before each call",
  },
  save: { type: "text", value: "DIR", help: "write NAME.json, NAME.svg and NAME.html there" },
  with: {
    type: "text",
    value: "FILE",
    many: true,
    help: "add the lines of another recording, e.g. of a Python script",
  },
  date: { type: "text", value: "DATE", help: "the date to store in the recording (default: none)" },
  compare: { type: "flag", help: "compare two recordings: before, after" },
  "least-change": {
    type: "text",
    value: "PERCENT",
    default: "2",
    help: "the least change of a median that --compare reports",
  },
  "fail-if-slower": { type: "flag", help: "exit with 1 if --compare finds a line slower" },
  timeout: {
    type: "text",
    value: "SECONDS",
    default: "10",
    help: "the longest time of a launch; slower configurations are dropped",
  },
  filter: { type: "text", value: "TEXT", help: "run the tests whose names contain TEXT" },
  device: {
    type: "text",
    value: "DEVICE",
    choices: ["emulator", "gpu"],
    help: "where the tests run (default: the GPU if there is one, else the emulator)",
  },
  shard: {
    type: "text",
    value: "I/N",
    help: "time part I of N, into NAME.tune.I-of-N.json (default: that of a Slurm array or a Job)",
  },
  merge: { type: "flag", help: "merge the stated files of timings into NAME.tune.json" },
  estimate: { type: "flag", help: "rank by a model instead of timing; writes nothing" },
  package: {
    type: "flag",
    help: "a separate project that publishes its kernels as an npm package",
  },
  help: { type: "flag", short: "h", help: "show this help" },
  version: { type: "flag", short: "V", help: "show the version" },
} as const satisfies Record<string, OptionRow>;

export type OptionName = keyof typeof OPTIONS;

/** The row of an option, with the optional columns visible to the type checker. */
export function optionRow(name: OptionName): OptionRow {
  return OPTIONS[name];
}
