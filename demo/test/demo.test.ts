import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { drawSome, isLong } from '@prism-gateway/testing/test-size';
import { expect, it } from 'vitest';
import { waitUntilSilent } from './processEnd.ts';
import { startDemo } from './startDemo.ts';

/** The smallest story with all twelve actions; the full size is a matter of `npm run demo` itself. */
const SIZE = isLong ? ['--users', '10', '--requests', '200'] : ['--users', '3', '--requests', '40'];
/** For what does not play to the end. */
const SMALLEST = ['--users', '2', '--requests', '24'];
const URL_PATTERN = /(http:\/\/127\.0\.0\.1:\d+)/;

/** Waits until the log of relayer B tells a part of it. */
async function readLog(folder: string, pattern: RegExp): Promise<string> {
  const findPart = async () => pattern.exec(await readFile(join(folder, 'relayer-1.log'), 'utf8'))?.[1];
  await expect.poll(findPart, { timeout: PATIENCE_MS }).toBeDefined();
  return (await findPart()) ?? '';
}

it('plays the whole loop, stays with --keep, and stops everything at Ctrl-C', async () => {
  await using demo = await startDemo([...SIZE, '--keep', '--verbose']);
  await demo.waitForLine(/^Left running/);
  const text = demo.output.join('\n');
  expect(text).toContain('Everything is as it must be');
  expect(text).not.toContain('✗');
  expect(text).toMatch(/relayer A killed with SIGKILL/);
  expect(text).toMatch(/relayer A started again/);
  const [, rpcUrl = ''] = await demo.waitForLine(/^RPC +(\S+)/);
  const [, gatewayUrl = ''] = await demo.waitForLine(/^gateway +(\S+) \(API/);
  const [, command = ''] = await demo.waitForLine(/curl -s '(.+)'$/);
  const answer = (await (await fetch(command)).json()) as { items: { status: string }[] };
  expect(answer.items.map(({ status }) => status)).toEqual(['success', 'success', 'success']);

  demo.process.kill('SIGINT');
  expect(await demo.ended).toBe(0);
  for (const url of [rpcUrl, gatewayUrl]) await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect(await demo.listFolders()).toEqual([]);
});

/** The ends that are not in order; each plays the demo's beginning. */
const ends = drawSome(['a process dies', 'it is killed'], { of: 'ends of the demo', small: 1 });

it.runIf(ends.includes('a process dies'))('ends with 1 and keeps the logs when one of its processes dies', async () => {
  await using demo = await startDemo([...SMALLEST, '--keep']);
  await demo.waitForLine(/^relayers/);
  const [folder = ''] = await demo.listFolders();
  process.kill(Number(await readLog(folder, /"pid":(\d+)/)), 'SIGKILL');
  expect(await demo.ended).toBe(1);
  expect(demo.output.join('\n')).toContain(`relayer B ended with SIGKILL: see ${join(folder, 'relayer-1.log')}`);
  expect(demo.output.at(-1)).toBe(`Logs and data are kept in ${folder}`);
  expect(await demo.listFolders()).toEqual([folder]);
});

it.runIf(ends.includes('it is killed'))('takes all its processes with it when it is killed', async () => {
  await using demo = await startDemo(SMALLEST);
  const chain = await demo.waitForLine(new RegExp(`^chain +${URL_PATTERN.source}`));
  const gateway = await demo.waitForLine(new RegExp(`^gateway +${URL_PATTERN.source}`));
  await demo.waitForLine(/^relayers/);
  const [folder = ''] = await demo.listFolders();
  const metrics = await readLog(folder, /"metrics":"(http[^"]+)"/);
  demo.process.kill('SIGKILL');
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for (const url of [chain[1], gateway[1], `${metrics}/health`]) {
    await expect(waitUntilSilent(url ?? '', signal)).resolves.toBeUndefined();
  }
});
