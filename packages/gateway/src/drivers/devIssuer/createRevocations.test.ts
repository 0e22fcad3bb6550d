import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRevocations } from './createRevocations.ts';

let directory: string;
const clock = createFakeClock();
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'revocations-'));
});
afterEach(() => rm(directory, { recursive: true }));

const tokenEndingIn = (seconds: number) => ({ jti: randomUUID(), exp: Math.floor(clock.now() / 1000) + seconds });

test('what one adds, another sees', async () => {
  const [one, two] = [
    createRevocations({ directory, now: clock.now }),
    createRevocations({ directory, now: clock.now }),
  ];
  const token = tokenEndingIn(60);
  expect(await two.has(token)).toBe(false);
  await one.add(token);
  await two.add(token);
  expect(await two.has(token)).toBe(true);
  expect(await two.has({ ...token, jti: randomUUID() })).toBe(false);
});

test('those of tokens long ended are swept, and nothing else', async () => {
  const { now } = clock;
  const revocations = createRevocations({ directory, now });
  const [ending, lasting] = [tokenEndingIn(1), tokenEndingIn(600)];
  await writeFile(join(directory, 'README'), 'mine');
  await revocations.add(ending);
  await revocations.add(lasting);
  clock.advance(60_999);
  await revocations.add(tokenEndingIn(600));
  expect(await revocations.has(ending)).toBe(true);
  clock.advance(1);
  await Promise.all([
    revocations.add(tokenEndingIn(600)),
    createRevocations({ directory, now }).add(tokenEndingIn(600)),
  ]);
  expect(await revocations.has(ending)).toBe(false);
  expect(await revocations.has(lasting)).toBe(true);
  expect(await readdir(directory)).toContain('README');
});

test.each(['../../../../outside', 'A'.repeat(36), ''])('%j never becomes a path', async (jti) => {
  const revocations = createRevocations({ directory, now: clock.now });
  await expect(revocations.add({ jti, exp: 1 })).rejects.toThrow(TypeError);
  await expect(revocations.has({ jti, exp: 1 })).rejects.toThrow(TypeError);
  expect(await readdir(directory)).toEqual([]);
});
