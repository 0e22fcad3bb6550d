import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { pendingRequest, START } from '../../test/contracts/storedRequests.ts';
import { createSqliteRig, TEST_TABLES } from '../../test/rigs/sqliteStores.ts';
import { checkDatabase, checkDisk, checkSecrets } from './checkDataDir.ts';

const isOk = (findings: readonly { readonly ok: boolean }[]) => findings.every(({ ok }) => ok);

test('each state of DATA_DIR in which a gateway does not start, or not well, is reported with what to do', async () => {
  const rig = await createSqliteRig();
  try {
    const place = { DATA_DIR: dirname(rig.file), databaseFile: rig.file, tables: TEST_TABLES };
    expect(checkDatabase({ ...place, databaseFile: `${rig.file}.none` }, START)).toMatchObject([{ ok: true }]);
    await rig.open().requests.create(pendingRequest({ createdAt: START }));
    expect(isOk(checkDatabase(place, START))).toBe(true);
    expect(checkDatabase(place, START - 60_000)).toMatchObject([
      { ok: true },
      { check: 'clock', ok: false, found: expect.stringContaining('60 s later than it is now') },
    ]);
    await rig.close();

    const database = new DatabaseSync(rig.file);
    database.exec('UPDATE schema_versions SET version = 99');
    database.close();
    expect(checkDatabase(place, START)).toMatchObject([
      { ok: false, found: expect.stringContaining('version 99'), advice: expect.stringContaining('go back') },
    ]);
    writeFileSync(rig.file, 'no database'.repeat(100));
    expect(checkDatabase(place, START)).toMatchObject([{ ok: false, advice: expect.stringContaining('Restore') }]);
    mkdirSync(join(place.DATA_DIR, '.restoring'));
    expect(checkDatabase(place, START)).toMatchObject([{ ok: false, found: expect.stringContaining('has not ended') }]);

    expect(checkSecrets(place)).toEqual([]);
    writeFileSync(join(place.DATA_DIR, 'secrets.json'), '{"x":');
    expect(checkSecrets(place)).toMatchObject([{ ok: false, advice: expect.stringContaining('backup') }]);
    expect(checkDisk(place).found).toContain('GB free');
    expect(checkDisk({ DATA_DIR: rig.file })).toMatchObject({ ok: false, advice: 'Set DATA_DIR to a folder.' });
  } finally {
    await rig.dispose();
  }
});
