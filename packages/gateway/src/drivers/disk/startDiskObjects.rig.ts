import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, createLogRecorder, startFetchServer } from '@prism-gateway/testing';
import type { ObjectOperation, SignedOperation } from '../../ports/objectSigner.ts';
import { createDiskObjects, type DiskObjectsOptions } from './createDiskObjects.ts';

export type DiskRig = Awaited<ReturnType<typeof startDiskObjects>>;

/** The key that every rig signs with. */
export const SIGNING_KEY = new Uint8Array(32).fill(7);

export const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

/** The path of a content under an owner of its own. */
export const newPath = (content: Uint8Array) =>
  `v1/${randomBytes(32).toString('hex')}/${randomBytes(16).toString('hex')}/${sha256(content)}`;

/**
 * Starts a local object store in a directory of its own, served by the real HTTP stack.
 *
 * @param changes options other than the rig's
 * @returns the store, and verbs for what tests do with it
 */
export async function startDiskObjects(changes: Partial<DiskObjectsOptions> = {}) {
  const directory = changes.directory ?? (await mkdtemp(join(tmpdir(), 'disk-objects-')));
  const clock = createFakeClock();
  const logger = createLogRecorder();
  const proxy: { handler: (request: Request) => Promise<Response> } = { handler: () => Promise.reject(new Error()) };
  const server = await startFetchServer((request) => proxy.handler(request));
  const objects = createDiskObjects({
    directory,
    publicUrl: server.url,
    signingKey: SIGNING_KEY,
    maxObjectBytes: 10_000_000,
    maxUserBytes: 0,
    hasSpace: () => true,
    bindContent: false,
    corsOrigins: ['*'],
    now: clock.now,
    logger,
    ...changes,
  });
  proxy.handler = objects.fetch;

  const sign = (operation: ObjectOperation, objectPath: string, contentSha256?: string) =>
    objects.signer.sign({
      operation,
      objectPath,
      nowMs: clock.now(),
      lifetimeSeconds: 60,
      ...(contentSha256 === undefined ? {} : { contentSha256 }),
    });
  return {
    directory,
    url: server.url,
    clock,
    logger,
    objects,
    /** Signs; a put is bound to its content if a hash is given. */
    sign,
    /** Signs and puts, bound to the content that the path names. */
    put: async (objectPath: string, content: Uint8Array) =>
      send(await sign('put', objectPath, objectPath.slice(-64)), { body: content }),
    /** Signs and gets. */
    get: async (objectPath: string, headers: Record<string, string> = {}) =>
      send(await sign('get', objectPath), { headers }),
    /** Signs and deletes. */
    delete: async (objectPath: string) => send(await sign('delete', objectPath)),
    /** Names of the files that are being received. */
    listTemp: () => readdir(join(directory, 'tmp')),
    async close() {
      await server.close();
      if (changes.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Does what was signed, with headers beside or instead of the signed ones. */
export function send(
  { url, method, headers }: SignedOperation,
  changes: { body?: Uint8Array | ReadableStream; headers?: Record<string, string>; method?: string } = {},
): Promise<Response> {
  return fetch(url, {
    method: changes.method ?? method,
    headers: { ...headers, ...changes.headers },
    ...(changes.body === undefined ? {} : { body: changes.body, duplex: 'half' }),
  });
}
