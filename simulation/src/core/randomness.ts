import crypto from 'node:crypto';
import { currentProcess } from './processes.ts';
import type { Random } from './random.ts';

/** Puts seeded numbers in place of the machine's, each process its own. @param ofWorld - for what no process asks */
export function installRandomness(ofWorld: Random): () => void {
  const random = () => currentProcess()?.random ?? ofWorld;
  const kept = {
    random: Math.random,
    randomBytes: crypto.randomBytes,
    randomUUID: crypto.randomUUID,
    randomInt: crypto.randomInt,
  };
  const web = globalThis.crypto;
  const keptWeb = { getRandomValues: web.getRandomValues, randomUUID: web.randomUUID };
  const fill = <T extends ArrayBufferView>(view: T): T => {
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(random().bytes(view.byteLength));
    return view;
  };
  function newUuid(): `${string}-${string}-${string}-${string}-${string}` {
    const bytes = random().bytes(16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = Buffer.from(bytes).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
  Math.random = () => random().next();
  Object.assign(crypto, {
    randomBytes: (count: number) => Buffer.from(random().bytes(count)),
    randomUUID: newUuid,
    randomFillSync: fill,
    randomInt: (min: number, max?: number) =>
      max === undefined ? random().between(0, min - 1) : random().between(min, max - 1),
  });
  const define = (name: string, value: unknown) =>
    Object.defineProperty(web, name, { value, configurable: true, writable: true });
  define('getRandomValues', fill);
  define('randomUUID', newUuid);
  return () => {
    Math.random = kept.random;
    Object.assign(crypto, { randomBytes: kept.randomBytes, randomUUID: kept.randomUUID, randomInt: kept.randomInt });
    define('getRandomValues', keptWeb.getRandomValues);
    define('randomUUID', keptWeb.randomUUID);
  };
}
