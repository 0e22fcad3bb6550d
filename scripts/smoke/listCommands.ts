import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `npm start`, `npm test`, `npm run bench -- dynamodb`: the script, and the word that stands first for the program. */
const BY_NPM =
  /\bnpm (?:run +(?:--silent |-s )?(?<script>[a-z][\w:-]*)|(?<verb>start|test)\b)(?: +-- +(?<word>[a-z][\w-]*))?/g;
/** `npx prism relayer`, `node bin/prism.mjs relayer`. */
const BY_PRISM = /(?:\bnpx prism|\bnode bin\/prism\.mjs) (?<name>[a-z][\w:-]*)/g;

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', '{bench,demo,examples,packages}/**/README.md'];

/** A command that the documents name. */
export interface NamedCommand {
  /** Like `bench dynamodb`: the name of the program, and the word that it takes. */
  readonly command: string;
  /** Where it stands, from the root. */
  readonly file: string;
}

/**
 * Lists the commands that README and the documents tell a reader to run.
 *
 * @param root - path of the repository
 * @returns each with one place where it stands
 */
export function listCommands(root: string): NamedCommand[] {
  const files = globSync(DOCUMENTS, { cwd: root, exclude: (path) => path.endsWith('node_modules') });
  const found = new Map<string, NamedCommand>();
  for (const file of files) {
    for (const command of findCommands(readFileSync(join(root, file), 'utf8'))) {
      if (!found.has(command)) found.set(command, { command, file });
    }
  }
  return [...found.values()];
}

/**
 * Finds the commands that a text names.
 *
 * @param text - Markdown
 * @returns like `start` or `bench dynamodb`; as often as they stand there
 */
export function findCommands(text: string): string[] {
  return [...text.matchAll(BY_NPM), ...text.matchAll(BY_PRISM)].map(({ groups }) => {
    const { script, verb, name, word } = groups ?? {};
    return [script ?? verb ?? name, word].filter((part) => part !== undefined).join(' ');
  });
}
