import type { CallAdmin } from './createAdminClient.ts';

/** The context of a command. */
export interface CommandContext {
  readonly call: CallAdmin;
  /** Words after the command's own. */
  readonly words: readonly string[];
  /** Options by name. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Whether standard output is for a program. */
  readonly json: boolean;
  /** Takes a line for standard output. */
  readonly print: (line: string) => void;
  /** Whether a person watches: lines may be drawn over. */
  readonly isTerminal: boolean;
  /** Aborted when the command is to end. */
  readonly signal: AbortSignal;
}

/** One command, as its help, its completion and its run know it. */
export interface Command {
  /** Like `requests list`. */
  readonly name: string;
  /** Words that it takes, like `ADDRESS`. */
  readonly takes: string;
  readonly summary: string;
  /** Names of its options, each with what it takes and is for. */
  readonly options: Readonly<Record<string, string>>;
  /** Names of its options that take nothing, each with what it is for. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly run: (context: CommandContext) => Promise<void>;
}
