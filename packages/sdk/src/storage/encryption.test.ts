import { createDecipheriv } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decryptObject, ENCRYPTION_OVERHEAD_BYTES, encryptObject, importEncryptionKey } from './encryption.ts';

const bytes = (length: { readonly minLength?: number; readonly maxLength?: number }) => fc.uint8Array(length);
const anyKey = bytes({ minLength: 32, maxLength: 32 });
const anyContent = bytes({ maxLength: 300 });

describe('an encrypted object', () => {
  it('comes back as it was, for every content and key', async () => {
    await fc.assert(
      fc.asyncProperty(anyKey, anyContent, async (raw, content) => {
        const key = await importEncryptionKey(raw);
        const object = await encryptObject(key, content);
        expect(object.byteLength).toBe(content.byteLength + ENCRYPTION_OVERHEAD_BYTES);
        expect(await decryptObject(key, object)).toEqual(new Uint8Array(content));
      }),
    );
  });

  it('is refused when any one bit of it is another', async () => {
    const altered = fc.tuple(anyKey, anyContent, fc.nat(), fc.nat({ max: 7 }));
    await fc.assert(
      fc.asyncProperty(altered, async ([raw, content, place, bit]) => {
        const key = await importEncryptionKey(raw);
        const object = await encryptObject(key, content);
        const at = place % object.byteLength;
        // The place is within the object.
        object[at] = object[at]! ^ (1 << bit);
        const code = at === 0 ? 'UNKNOWN_FORMAT' : 'DECRYPTION_FAILED';
        await expect(decryptObject(key, object)).rejects.toMatchObject({ name: 'StorageError', code });
      }),
    );
  });

  it('is refused when it has been cut, or is read with another key', async () => {
    await fc.assert(
      fc.asyncProperty(anyKey, anyKey, anyContent, fc.nat(), async (raw, other, content, length) => {
        fc.pre(Buffer.compare(raw, other) !== 0);
        const key = await importEncryptionKey(raw);
        const object = await encryptObject(key, content);
        const code = expect.stringMatching(/^(?:UNKNOWN_FORMAT|DECRYPTION_FAILED)$/);
        const cut = object.slice(0, length % object.byteLength);
        await expect(decryptObject(key, cut)).rejects.toMatchObject({ code });
        await expect(decryptObject(await importEncryptionKey(other), object)).rejects.toMatchObject({ code });
      }),
    );
  });

  it('is another each time', async () => {
    const key = await importEncryptionKey(new Uint8Array(32));
    const content = Uint8Array.of(1, 2, 3);
    const objects = await Promise.all(Array.from({ length: 50 }, () => encryptObject(key, content)));
    const ivs = objects.map((object) => Buffer.from(object.slice(1, 13)).toString('hex'));
    expect(new Set(ivs).size).toBe(50);
  });

  it('has the documented form: any AES-GCM reads it', async () => {
    const raw = crypto.getRandomValues(new Uint8Array(32));
    const object = await encryptObject(await importEncryptionKey(raw), new TextEncoder().encode('plain'));
    const decipher = createDecipheriv('aes-256-gcm', raw, object.slice(1, 13)).setAAD(Uint8Array.of(1));
    decipher.setAuthTag(object.slice(-16));
    expect(`${decipher.update(object.slice(13, -16))}${decipher.final()}`).toBe('plain');
    expect(object[0]).toBe(1);
  });

  it.each([0, 16, 31, 33])('takes no key of %i bytes', async (length) => {
    await expect(importEncryptionKey(new Uint8Array(length))).rejects.toMatchObject({ code: 'INVALID_ENCRYPTION_KEY' });
  });

  it('takes no CryptoKey for another purpose', async () => {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, false, ['encrypt', 'decrypt']);
    await expect(importEncryptionKey(key)).rejects.toMatchObject({ code: 'INVALID_ENCRYPTION_KEY' });
  });
});
