/** `npm run test:commands [-- COMMAND…]`: runs every command that README and documents name, quickly, and stops what serves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programs } from '../bin/programs.mjs';
import { findMissingRows } from './smoke/findMissingRows.ts';
import { listCommands } from './smoke/listCommands.ts';
import { listTools } from './smoke/listTools.ts';
import { rows } from './smoke/rows.ts';
import { runRows } from './smoke/runRows.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

async function main(wanted: readonly string[]): Promise<number> {
  const named = [...listCommands(root), ...listTools(root)];
  const faults = findMissingRows({ named, programs: Object.keys(programs) }, rows);
  for (const fault of faults) console.error(fault);
  const dir = await mkdtemp(join(tmpdir(), 'prism-commands-'));
  try {
    // What serves others runs in any case.
    const chosen = rows.filter(({ command, keep }) => wanted.length === 0 || keep || wanted.includes(command));
    const failures = await runRows({ root, dir, tell: console.log }, chosen);
    return faults.length + failures === 0 ? 0 : 1;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

process.exit(await main(process.argv.slice(2)));
