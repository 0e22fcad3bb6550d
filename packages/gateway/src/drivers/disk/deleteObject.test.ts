import { mkdtemp, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordSyncs, type SyncRecorder } from '../../../test/rigs/recordSyncs.ts';
import { deleteObject } from './deleteObject.ts';
import { type DiskFiles, openDiskFiles } from './diskFiles.ts';
import { putObject } from './putObject.ts';
import { openBody } from './receiveBody.ts';
import { newPath } from './startDiskObjects.rig.ts';

const content = new TextEncoder().encode('an object');

let directory: string;
let files: DiskFiles;
let syncs: SyncRecorder;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'delete-object-'));
  files = openDiskFiles(directory);
});
afterEach(async () => {
  syncs.stop();
  await rm(directory, { recursive: true });
});

async function put(): Promise<string> {
  const objectPath = newPath(content);
  const body = openBody(new Request('http://localhost', { method: 'PUT', body: content }), {
    maxBytes: content.length,
  });
  await putObject(files, { objectPath, body, onConflict: 'replace' });
  return objectPath;
}

test.each<[string, (path: string) => Promise<void>]>([
  ['an object', async () => undefined],
  ['an object that a rival has just removed', (path) => unlink(path)],
])('%s is gone for good', async (_, before) => {
  const objectPath = await put();
  const path = files.findPath(objectPath);
  await before(path);
  syncs = recordSyncs();
  await deleteObject(files, objectPath);
  expect(syncs.paths).toEqual([dirname(path)]);
});

test('an object of a project that was never there is gone', async () => {
  syncs = recordSyncs();
  await deleteObject(files, newPath(content));
  expect(syncs.paths).toEqual([]);
});
