import { copyFile, rename, rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, type SqliteRig } from '../../../test/rigs/sqliteStores.ts';

let rig: SqliteRig;
beforeEach(async () => {
  rig = await createSqliteRig();
});
afterEach(() => rig.dispose());

test('a file that has been removed or replaced is not ready, until it is back', async () => {
  const { requests, checkReady } = rig.open();
  await requests.create(pendingRequest());
  const isReady = () => checkReady().then(() => true);
  const notReady = { code: 'DEPENDENCY_UNAVAILABLE', dependency: 'store' };
  expect(await isReady()).toBe(true);
  await rename(rig.file, `${rig.file}.away`);
  await expect(isReady()).rejects.toMatchObject(notReady);
  await copyFile(`${rig.file}.away`, rig.file);
  await expect(isReady()).rejects.toMatchObject({ ...notReady, cause: { message: /restart the gateway/ } });
  await rename(`${rig.file}.away`, rig.file);
  expect(await isReady()).toBe(true);
  await rm(rig.file);
  await expect(isReady()).rejects.toMatchObject(notReady);
});
