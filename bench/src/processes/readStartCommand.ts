import { fileURLToPath } from 'node:url';
import { compileCache, gateway } from '../../../bin/programs.mjs';

/** How `npm start` runs the gateway. */
export interface StartCommand {
  /** Folder that it is run in. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeFlags: readonly string[];
  /** File that it runs, from the root. */
  readonly entry: string;
}

/** Reads what the launcher runs, so that the bench measures what `npm start` runs, and its baselines get the same flags. */
export function readStartCommand(): StartCommand {
  const { file, nodeFlags, env } = gateway;
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  return { root, env: { NODE_COMPILE_CACHE: compileCache, ...env }, nodeFlags, entry: file };
}
