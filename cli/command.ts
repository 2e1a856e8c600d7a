/** What a command is: its row in COMMANDS, its words, and what its body may use. Bodies import this and not the table that loads them. */
import type { Override } from "../compiler/options.ts";
import type { OptionName } from "./words/options.ts";
import type { Terminal } from "./terminal.ts";
import type { Toolchain } from "./tools/toolchain.ts";

/** A command with its options, in the user's words. */
export class Invocation {
  constructor(
    readonly command: string,
    readonly operands: readonly string[],
    /** Pragma lines from `--grid`, `--config`, … in order. */
    readonly overrides: readonly Override[],
    private readonly values: ReadonlyMap<OptionName, readonly string[]>,
    /** What an option is when it is not given. */
    private readonly defaultOf: (name: OptionName) => string | undefined,
  ) {}

  /** Whether it was given. */
  flag(name: OptionName): boolean {
    return this.values.has(name);
  }

  /** The last value given, or the default. */
  text(name: OptionName): string | undefined {
    return this.values.get(name)?.at(-1) ?? this.defaultOf(name);
  }

  list(name: OptionName): readonly string[] {
    const given = this.values.get(name);
    if (given !== undefined) return given;
    const preset = this.defaultOf(name);
    return preset === undefined ? [] : [preset];
  }
}

/** What a command may use besides its options. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly toolchain: Toolchain;
}

/** Does the work; the result is the exit code. */
export type CommandBody = (invocation: Invocation, context: CommandContext) => Promise<number>;

export interface CommandRow {
  readonly summary: string;
  readonly operands: string;
  /** The only operands that there are. */
  readonly operandChoices?: readonly string[];
  readonly options: readonly OptionName[];
  /** Where a default differs from the option's own. */
  readonly defaults?: Readonly<Partial<Record<OptionName, string>>>;
}
