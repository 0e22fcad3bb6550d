import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseStartScript, type StartScript } from './parseStartScript.ts';

/** How `npm start` runs the gateway. */
export interface StartCommand extends StartScript {
  /** Folder that it is run in. */
  readonly root: string;
}

/**
 * Reads the start script, so that the bench measures what `npm start` runs, and its baselines get the same flags.
 *
 * @returns its environment, flags and entry
 * @throws Error when the script is not of the form `[NAME=value …] [exec] node [flags …] entry`
 */
export async function readStartCommand(): Promise<StartCommand> {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const { scripts } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as { scripts: { start: string } };
  return { root, ...parseStartScript(scripts.start) };
}
