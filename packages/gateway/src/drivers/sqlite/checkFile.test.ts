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

test('nothing is acknowledged that goes into a file which nobody will find', async () => {
  const { requests } = rig.open();
  const before = pendingRequest();
  await requests.create(before);
  await rename(rig.file, `${rig.file}.away`);
  const lost = pendingRequest();
  await expect(requests.create(lost)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', dependency: 'store' });
  await rename(`${rig.file}.away`, rig.file);
  const after = pendingRequest();
  await requests.create(after);
  const found = await Promise.all([before, lost, after].map(({ requestId }) => requests.get(requestId)));
  expect(found.map((record) => record?.requestId)).toEqual([before.requestId, undefined, after.requestId]);
});
