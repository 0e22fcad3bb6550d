import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Lives a short world in a process of its own, whose clock is not the tests'. */
async function live(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--users', '4', '--relayers', '1', ...args]);
  return stdout;
}

const digestOf = (output: string) => /digest (\w+)/.exec(output)?.[1];

test('the same seed lives the same world, to the last event', {
  timeout: 300_000,
}, async () => {
  const short = ['--hours', '0.06', '--faults', 'none', '--kinds', 'single', '--pay-seconds', '15'];
  const [one = '', again = ''] = await Promise.all([live('--seed', 'a', ...short), live('--seed', 'a', ...short)]);
  expect(one).toContain('All that must hold holds.');
  expect(one).toMatch(/single: success \d/);
  expect(one).toMatch(/payment to be paid: completed \d/);
  expect(digestOf(one)).toMatch(/^[0-9a-f]{16}$/);
  expect(digestOf(again)).toBe(digestOf(one));
});

test('a wrong fault is named, and ends with 2', async () => {
  await expect(live('--faults', 'weather')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--faults: there is no weather; expected all, none, or some of network'),
  });
});
