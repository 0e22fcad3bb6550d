import { expect, test } from 'vitest';
import { createPendingSpace } from './createPendingSpace.ts';

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const KILOBYTE = 1000;
const REFUSED = expect.objectContaining({ code: 'NO_SPACE', status: 503 });

/** A store that holds what was admitted. */
function openSpace(options: { readonly maxBytes: number; readonly freeDisk?: () => number }) {
  const held = new Map<string, number>();
  let now = 0;
  const pendingBytes = (holders: readonly string[]) => holders.map((holder) => held.get(holder) ?? 0);
  const space = createPendingSpace({ requests: { pendingBytes }, ...options, now: () => now, logger });
  return {
    async post(peer: string, bytes = KILOBYTE) {
      for (const holder of ['', ...(await space.admit(peer, bytes))]) held.set(holder, (held.get(holder) ?? 0) + bytes);
      now += 1000;
    },
    async fill(nextPeer: () => string): Promise<number> {
      for (let posted = 0; ; posted++) {
        const error = await this.post(nextPeer()).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error !== undefined) return posted;
      }
    },
  };
}

// Shows STORE-11.
test('one who fills it gets half, and all others go on', async () => {
  const space = openSpace({ maxBytes: 100 * KILOBYTE });
  expect(await space.fill(() => '192.0.2.1')).toBe(50);
  await expect(space.post('192.0.2.1')).rejects.toEqual(REFUSED);
  expect(await space.fill(() => '192.0.2.2')).toBe(25);
  for (let i = 0; i < 10; i++) await space.post(`198.51.100.${i}`);
  await expect(space.post('192.0.2.2')).rejects.toEqual(REFUSED);
});

test('addresses of one IPv6 network share, more generously', async () => {
  const space = openSpace({ maxBytes: 100 * KILOBYTE });
  let site = 0;
  expect(await space.fill(() => `2001:db8:1:${(site++).toString(16)}::/64`)).toBe(80);
  await space.post('2001:db8:2:1::/64');
  await space.post('192.0.2.1');
});

test('what the disk has left bounds it too, and never more than all is admitted', async () => {
  const space = openSpace({ maxBytes: 0, freeDisk: () => 10 * KILOBYTE });
  expect(await space.fill(() => '192.0.2.1')).toBe(9);
  await space.post('192.0.2.2');
  await expect(space.post('192.0.2.3', 11 * KILOBYTE)).rejects.toEqual(REFUSED);
});

test('those who come during the first look wait for it', async () => {
  const pendingBytes = async (holders: readonly string[]) => holders.map(() => 0);
  const space = createPendingSpace({ requests: { pendingBytes }, maxBytes: 100 * KILOBYTE, now: () => 0, logger });
  const together = Array.from({ length: 4 }, () => space.admit('192.0.2.1', KILOBYTE));
  expect(await Promise.all(together)).toEqual(together.map(() => ['192.0.2.1']));
});
