import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A command line that cannot be followed; its message names the argument. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
  readonly code = 'COMMAND_USAGE';
}

/** One that Node's parser takes, so far as it is looked at here. */
interface Token {
  readonly kind: 'option' | 'positional' | 'option-terminator';
  readonly rawName?: string;
  readonly name?: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

const fail = (sentence: string) => new CommandLineError(`${sentence} Try --help.`);

function checkOption({ options = {} }: ParseArgsConfig, { rawName, name = '', value, inlineValue }: Token): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) throw fail(`There is no option ${rawName}.`);
  if (option.type === 'boolean' && value !== undefined) throw fail(`${rawName} takes no value.`);
  const isMissing = value === undefined || (inlineValue !== true && value.startsWith('-'));
  if (option.type === 'string' && isMissing) throw fail(`${rawName} wants a value.`);
}

/**
 * Parses a command line as `parseArgs` of Node does, and says what is wrong with it in a sentence for people.
 *
 * @param config - as `parseArgs` takes it
 * @throws CommandLineError
 */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const { tokens } = parseArgs({ ...config, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens as readonly Token[]) {
    if (token.kind === 'option') checkOption(config, token);
    if (token.kind === 'positional' && config.allowPositionals !== true) {
      throw fail(`It takes no argument "${token.value}".`);
    }
  }
  return parseArgs(config);
}

/** Exit status of a command line that is wrong, in every program; as getopt and most shells have it. */
export const USAGE_STATUS = 2;

/** Writes what has gone wrong for whoever reads: with `--json` one line as the API's errors are, else the sentence. */
export const writeFailure = (args: readonly string[], sentence: string): string =>
  args.includes('--json') ? JSON.stringify({ error: sentence }) : sentence;
