import type { CommandContext } from './command.ts';
import { CommandError } from './createAdminClient.ts';

/** Reads the one word that a command takes. @throws CommandError `COMMAND_USAGE` */
export function needWord({ words }: CommandContext, name: string): string {
  const [word, ...more] = words;
  if (word !== undefined && more.length === 0) return word;
  throw new CommandError('COMMAND_USAGE', `It takes one ${name}. Try --help.`);
}

/** Prints an answer: as JSON for programs, as a sentence for people. */
export function printAnswer({ json, print }: CommandContext, body: unknown, sentence: string): void {
  print(json ? JSON.stringify(body) : sentence);
}
