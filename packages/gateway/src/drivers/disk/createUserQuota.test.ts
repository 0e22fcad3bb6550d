import { createFakeClock } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createUserQuota } from './createUserQuota.ts';
import { ObjectRefusedError } from './objectRefusedError.ts';
import { newPath, startDiskObjects } from './startDiskObjects.rig.ts';

const bytes = (count: number, fill: string) => Buffer.alloc(count, fill);

// Shows OBJECT-14.
test("a user's objects take up so much and no more, and what is deleted is free again", async () => {
  const rig = await startDiskObjects({ maxUserBytes: 12_288 });
  try {
    const [first, second, third] = ['a', 'b', 'c'].map((fill) => bytes(600, fill));
    if (first === undefined || second === undefined || third === undefined) throw new Error('Three are made of three.');
    const path = newPath(first);
    const ofSameUser = (content: Buffer) => [...path.split('/').slice(0, 3), newPath(content).split('/')[3]].join('/');
    expect((await rig.put(path, first)).status).toBe(200);
    expect((await rig.put(ofSameUser(second), second)).status).toBe(413);
    // Another process adds up what it finds.
    const other = await startDiskObjects({ directory: rig.directory, maxUserBytes: 12_288 });
    expect((await other.put(ofSameUser(second), second)).status).toBe(413);
    await other.close();
    expect((await rig.put(newPath(third), third)).status, 'of another user').toBe(200);
    expect((await rig.delete(path)).status).toBe(204);
    expect((await rig.put(ofSameUser(second), second)).status).toBe(200);
    expect(await rig.listTemp()).toEqual([]);
  } finally {
    await rig.close();
  }
});

// Shows OBJECT-14.
test('uploads that begin at once, or before the objects are added up anew, count together', async () => {
  const clock = createFakeClock();
  const quota = createUserQuota({ directory: '/nowhere', maxBytes: 12_288, now: clock.now });
  const [first, second] = await Promise.all([quota.open('v1/user/p/a'), quota.open('v1/user/p/b')]);
  first?.grow(600);
  expect(() => second?.grow(600)).toThrow(ObjectRefusedError);
  clock.advance(3_600_000);
  const third = await quota.open('v1/user/p/c');
  expect(() => third.grow(600)).toThrow(ObjectRefusedError);
  first?.release();
  third.grow(600);
});

// Shows OBJECT-14.
test('an empty object takes a block of 4 KiB, and of deletes at once one gives it back', async () => {
  const rig = await startDiskObjects({ maxUserBytes: 12_288, bindContent: false });
  try {
    const empty = Buffer.alloc(0);
    const [version, user, , key] = newPath(empty).split('/');
    const path = (n: number) => `${version}/${user}/${`${n}`.repeat(32)}/${key}`;
    const put = async (n: number) => (await rig.put(path(n), empty)).status;
    expect([await put(1), await put(2), await put(3), await put(4)]).toEqual([200, 200, 200, 413]);
    await Promise.all([1, 1, 1, 1].map((n) => rig.delete(path(n))));
    expect([await put(5), await put(6)]).toEqual([200, 413]);
    for (const n of [2, 3, 5]) await rig.delete(path(n));
    // What is left are projects: there are four, and others find them.
    const other = await startDiskObjects({ directory: rig.directory, maxUserBytes: 12_288 });
    expect((await other.put(path(1), empty)).status).toBe(413);
    await other.close();
  } finally {
    await rig.close();
  }
});

// Shows OBJECT-15.
test('one upload at a time goes through a URL', async () => {
  const rig = await startDiskObjects();
  try {
    const content = bytes(100, 'x');
    const path = newPath(content);
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const slow = new ReadableStream<Uint8Array>({
      async pull(to) {
        begun.resolve();
        await gate.promise;
        to.enqueue(content);
        to.close();
      },
    });
    const order = await rig.sign('put', path);
    const { url } = order;
    const put = (body: Uint8Array<ArrayBuffer> | ReadableStream) =>
      rig.objects.fetch(new Request(url, { method: 'PUT', body, duplex: 'half' }));
    const first = put(slow);
    await begun.promise;
    await expect.poll(() => rig.listTemp()).toHaveLength(1);
    expect((await put(content)).status).toBe(409);
    gate.resolve();
    expect((await first).status).toBe(200);
  } finally {
    await rig.close();
  }
});
