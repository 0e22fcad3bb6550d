import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', '{bench,demo,examples,packages}/**/README.md'];
/** `npm start`, `npm run payments -- status`, `npx prism backup FOLDER`: the program, and a word that stands first for it. */
const COMMAND =
  /\b(?:npm (?:run (?<script>[a-z][\w:-]*)|(?<verb>start|test))(?: +--)?|(?:npx prism|node bin\/prism\.mjs) (?<name>[a-z][\w:-]*))(?: (?<word>[a-z][a-z-]*)(?![\w/.:]))?/g;
/** The page on tools that others have made. */
const TOOLS_PAGE = 'docs/deploy.md';
/** On every machine, and nothing of ours. */
const ORDINARY: ReadonlySet<string> = new Set(['npm', 'npx', 'cd', 'cp', 'install']);

/** Finds the commands that a text names, like `start` or `payments status`: the words that follow `npx prism`. */
export function findCommands(text: string): string[] {
  return (
    [...text.matchAll(COMMAND)]
      .map(({ groups: { script, verb, name, word } = {} }) => [script ?? verb ?? name, word].filter(Boolean).join(' '))
      // A script of one package.
      .filter((command) => command !== 'vectors')
  );
}

/** Finds the first words of the lines in a text's shell blocks. */
export function findTools(text: string): string[] {
  return [...text.matchAll(/^```sh\n(?<lines>.*?)^```/gms)]
    .flatMap(({ groups: { lines = '' } = {} }) =>
      lines
        .replaceAll(/\\\n/g, ' ')
        .replaceAll(/ #.*/g, '')
        .split(/\n|&&|\|\|?|;/),
    )
    .flatMap((line) => /^ *\(?(?:[A-Z_]+=\S+ +)*(?<tool>[\w./-]+)/.exec(line)?.groups?.tool ?? [])
    .filter((tool) => !ORDINARY.has(tool));
}

/**
 * Lists the commands that README and the documents have a reader run.
 *
 * @param root - path of the repository
 * @returns each with one place where it is named
 */
export function listCommands(root: string): ReadonlyMap<string, string> {
  const files = globSync(DOCUMENTS, { cwd: root, exclude: (path) => path.endsWith('node_modules') });
  const named = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const found = [...findCommands(text), ...(file === TOOLS_PAGE ? findTools(text) : [])];
    return found.map((command) => [command, file] as const);
  });
  return new Map(named);
}
