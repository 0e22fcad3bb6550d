import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const entry = (name: string) => fileURLToPath(new URL(`../../src/entry/${name}.ts`, import.meta.url));

/** How a command has ended. */
export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run backup` or `npm run restore` as an operator does, in a process of its own. */
export function runBackup(
  command: 'backup' | 'restore',
  { args, env }: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
): Promise<CommandEnd> {
  const { PATH, HOME, NODE_COMPILE_CACHE, TMPDIR } = process.env;
  const options = { env: { PATH, HOME, NODE_COMPILE_CACHE, TMPDIR, ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [entry(command), ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}
