import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

const MODULE = new URL('./waitForSignal.ts', import.meta.url).href;

/** Each line that is written to it sets its clock; it says when it has done so, and which signal stopped it. */
const SCRIPT = `
  import { waitForSignal } from ${JSON.stringify(MODULE)};
  let nowMs = 0;
  process.stdin.on('data', (text) => { nowMs = Number(text); console.log('clock'); });
  process.on('SIGTERM', () => console.log('got'));
  const stopped = waitForSignal({ now: () => nowMs });
  console.log('waits');
  console.log('stopped by ' + await stopped);
`;

function startWaiting() {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, nextLine: async () => (await lines.next()).value as string | undefined };
}

test('the first signal is reported, one that is repeated is the same, a later one ends the process at once', async () => {
  const { child, nextLine } = startWaiting();
  expect(await nextLine()).toBe('waits');
  child.kill('SIGTERM');
  expect([await nextLine(), await nextLine()]).toEqual(['got', 'stopped by SIGTERM']);
  child.stdin.write('500');
  expect(await nextLine()).toBe('clock');
  child.kill('SIGTERM');
  expect(await nextLine()).toBe('got');
  child.stdin.write('501');
  expect(await nextLine()).toBe('clock');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([130, null]);
});

test('SIGINT stops, too', async () => {
  const { child, nextLine } = startWaiting();
  await nextLine();
  child.kill('SIGINT');
  expect(await nextLine()).toBe('stopped by SIGINT');
  child.kill('SIGKILL');
});
