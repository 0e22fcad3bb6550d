import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const entry = fileURLToPath(new URL('./devnet.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'devnet-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  [['--port', 'eighty'], '--port takes a whole number from 0 to 65535, not "eighty".'],
  [['--block-time-ms', '0'], '--block-time-ms takes a whole number from 1 to 3600000, not "0".'],
  [['--prot', '1'], 'There is no option --prot.'],
])('says in one sentence what is wrong with %j', async (args, sentence) => {
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  expect(await once(child, 'close')).toEqual([2, null]);
  expect(said).toContain(sentence);
  expect(said.trim().split('\n')).toHaveLength(1);
});
