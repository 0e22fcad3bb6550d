import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { verifyCopy } from './verifyCopy.ts';

test('a whole database passes, and a damaged or missing one is told', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'prism-verify-'));
  try {
    const file = join(folder, 'a.db');
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE t (a TEXT); CREATE INDEX i ON t (a)');
    const insert = database.prepare('INSERT INTO t VALUES (hex(randomblob(400)))');
    for (let n = 0; n < 200; n++) insert.run();
    database.close();
    await expect(verifyCopy(file)).resolves.toBeUndefined();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x5a, 8192, 40_000));
    await expect(verifyCopy(file)).rejects.toThrow(/damaged|malformed/);
    await expect(verifyCopy(`${file}.none`)).rejects.toThrow('unable to open');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
