import { createHash } from 'node:crypto';
import { startFaultProxy } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createGatewayClient,
  createStorageClient,
  decryptObject,
  ENCRYPTION_OVERHEAD_BYTES,
  importEncryptionKey,
  type StorageClient,
  type StorageClientOptions,
} from '../src/index.ts';
import { PROJECT_ID, QUICK_RETRY, type SdkRig, startSdkRig } from './rig.ts';

const KEY = new Uint8Array(32).fill(7);
const CONTENT = new TextEncoder().encode('for nobody else');

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(async () => {
  await rig?.stop();
});

function createStorage(options: Partial<StorageClientOptions> = {}): StorageClient {
  const { gateway } = rig;
  const getAccessToken = () => rig.getAccessToken();
  return createStorageClient({ gateway, projectId: PROJECT_ID, getAccessToken, encryptionKey: KEY, ...options });
}

/** Fetches what is stored, as it is stored. */
async function readStored(key: string): Promise<Uint8Array> {
  const body = { projectId: PROJECT_ID, key, operation: 'get' };
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${await rig.getAccessToken()}` };
  const { url } = rig.running;
  const signed = await fetch(`${url}/storage/sign`, { method: 'POST', headers, body: JSON.stringify(body) });
  // The wire contract's answer.
  const operation = (await signed.json()) as { readonly url: string };
  return new Uint8Array(await (await fetch(operation.url)).arrayBuffer());
}

describe('the storage client', () => {
  it('puts, heads, gets and deletes', async () => {
    const storage = createStorage();
    const { key, size } = await storage.put(CONTENT);
    expect(size).toBe(CONTENT.byteLength + ENCRYPTION_OVERHEAD_BYTES);
    expect(await storage.head(key)).toMatchObject({ size, etag: expect.any(String), lastModified: expect.any(String) });
    expect(await storage.get(key)).toEqual(CONTENT);
    expect(await storage.get(key.toUpperCase().replace('X', 'x'))).toEqual(CONTENT);
    await storage.delete(key);
    await storage.delete(key);
    expect(await storage.head(key)).toBeUndefined();
    await expect(storage.get(key)).rejects.toMatchObject({ kind: 'NOT_FOUND', status: 404 });
  });

  it('has taken its key by the time that its maker wipes the bytes', async () => {
    const encryptionKey = new Uint8Array(KEY);
    const storage = createStorage({ encryptionKey });
    encryptionKey.fill(0);
    const { key } = await storage.put(CONTENT);
    expect(await decryptObject(await importEncryptionKey(KEY), await readStored(key))).toEqual(CONTENT);
  });

  it.each(['null', '{}', '{"url":1}', '{"url":"http://127.0.0.1:1/","method":"GET"}'])(
    'says that %s is no signed operation, once',
    async (text) => {
      let calls = 0;
      const answering = async () => {
        calls++;
        return new Response(text);
      };
      const gateway = createGatewayClient({ url: rig.running.url, retry: QUICK_RETRY, fetch: answering });
      const get = createStorage({ gateway }).get(`0x${'00'.repeat(32)}`);
      await expect(get).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
      expect(calls).toBe(1);
    },
  );

  it('stores nothing of the content, under the hash of what is stored', async () => {
    const { key } = await createStorage().put(CONTENT);
    const stored = await readStored(key);
    expect(key).toBe(`0x${createHash('sha256').update(stored).digest('hex')}`);
    expect(Buffer.from(stored).includes(Buffer.from('nobody'))).toBe(false);
    expect(await decryptObject(await importEncryptionKey(KEY), stored)).toEqual(CONTENT);
  });

  it('takes a CryptoKey, and refuses a key that is none', async () => {
    const encryptionKey = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]);
    const storage = createStorage({ encryptionKey });
    expect(await storage.get((await storage.put(CONTENT)).key)).toEqual(CONTENT);
    await expect(createStorage({ encryptionKey: new Uint8Array(16) }).put(CONTENT)).rejects.toMatchObject({
      code: 'INVALID_ENCRYPTION_KEY',
    });
  });

  it('does not open what another key has closed', async () => {
    const { key } = await createStorage().put(CONTENT);
    const other = createStorage({ encryptionKey: new Uint8Array(32).fill(8) });
    await expect(other.get(key)).rejects.toMatchObject({ code: 'DECRYPTION_FAILED' });
  });

  it('does not take what does not hash to its key', async () => {
    const { key } = await createStorage().put(CONTENT);
    // A store that answers with other bytes.
    const forging: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (init?.method !== 'GET') return answer;
      const bytes = new Uint8Array(await answer.arrayBuffer());
      bytes.set([bytes[20]! ^ 1], 20);
      return new Response(bytes, answer);
    };
    const storage = createStorage({ gateway: createGatewayClient({ url: rig.running.url, fetch: forging }) });
    await expect(storage.get(key)).rejects.toMatchObject({ code: 'CONTENT_MISMATCH' });
  });

  it('asks for a fresh token once, when the one at hand is refused', async () => {
    const asked: boolean[] = [];
    const storage = createStorage({
      getAccessToken({ refresh }) {
        asked.push(refresh);
        return refresh ? rig.getAccessToken() : 'worn-out';
      },
    });
    await storage.put(CONTENT);
    expect(asked).toEqual([false, true]);
    const hopeless = createStorage({ getAccessToken: () => 'worn-out' });
    const failure = await hopeless.put(CONTENT).catch((error: Error) => error);
    expect(failure).toMatchObject({ kind: 'UNAUTHORISED' });
    expect(String(failure)).not.toContain('worn-out');
  });
});

describe('the storage client where the network fails', () => {
  it('takes "it is there already" for a success, when the answer to a put was lost', async () => {
    await using proxy = await startFaultProxy({ upstream: rig.running.url });
    // Presigned URLs name the gateway itself: they are led through the proxy as the rest.
    const led: typeof fetch = (input, init) => fetch(String(input).replace(rig.running.url, proxy.url), init);
    const gateway = createGatewayClient({ url: proxy.url, fetch: led, retry: QUICK_RETRY });
    const storage = createStorage({ gateway });
    proxy.planFaults(['cutAfter'], ({ method }) => method === 'PUT');
    const { key } = await storage.put(CONTENT);
    expect(proxy.counts.cutAfter).toBe(1);
    expect(await storage.get(key)).toEqual(CONTENT);
    // A body that ends early is no answer, and a refusal of the store passes.
    proxy.planFaults(['cutInAnswer', 'unavailable', 'serverError'], ({ url }) => url.startsWith('/objects/'));
    expect(await storage.get(key)).toEqual(CONTENT);
    expect(proxy.counts).toMatchObject({ cutInAnswer: 1, unavailable: 1, serverError: 1 });
  });
});
