import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NamedCommand } from './listCommands.ts';

/** The page on tools that others have made. */
const PAGE = 'docs/deploy.md';
/** npm's commands are listed by themselves; the rest is on every machine, and does nothing of ours. */
const ORDINARY: ReadonlySet<string> = new Set(['npm', 'npx', 'cd', 'cp', 'install']);

/**
 * Lists the programs of others that the page on deployment tells a reader to run.
 *
 * @param root - path of the repository
 * @returns each once
 */
export function listTools(root: string): NamedCommand[] {
  const found = new Set(findTools(readFileSync(join(root, PAGE), 'utf8')));
  return [...found].map((command) => ({ command, file: PAGE }));
}

/**
 * Finds the first words of the lines in a text's shell blocks.
 *
 * @param text - Markdown
 * @returns like `kubectl` or `deploy/image/build`; as often as they stand there
 */
export function findTools(text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n(?<lines>.*?)^```/gms)].map(({ groups }) => groups?.lines ?? '');
  return blocks
    .flatMap((block) =>
      block
        .replaceAll(/\\\n/g, ' ')
        .replaceAll(/ #.*/g, '')
        .split(/\n|&&|\|\|?|;/),
    )
    .flatMap((line) => /^ *\(?(?:[A-Z_]+=\S+ +)*(?<tool>[\w./-]+)/.exec(line)?.groups?.tool ?? [])
    .filter((tool) => !ORDINARY.has(tool));
}
