import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestRecord } from '@prism-gateway/protocol';
import { recoverRequestSigner } from '@prism-gateway/protocol/typed-data';
import { startGateway } from '@prism-gateway/testing';
import { expect, onTestFinished, test } from 'vitest';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;
const skipWithoutPython = 'there is no python3 of 3.10 or later here';

const examples = fileURLToPath(new URL('../../../examples', import.meta.url));

const hasGo = spawnSync('go', ['version']).status === 0;

const runPython = (file: string, args: readonly string[] = []) =>
  run({ folder: 'python', command: 'python3', args: ['-B', file, ...args] });

/** Runs an example to its end. */
async function run(example: { readonly folder: string; readonly command: string; readonly args: readonly string[] }) {
  const child = spawn(example.command, example.args, {
    cwd: join(examples, example.folder),
    // Go keeps what it has compiled there.
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = await once(child, 'close');
  return { code, errors, lines: output.trimEnd().split('\n') };
}

test('the client in Python agrees with the vectors', async (context) => {
  if (!hasPython) context.skip(skipWithoutPython);
  expect(await runPython('check_vectors.py')).toEqual({
    code: 0,
    errors: '',
    lines: [
      expect.stringMatching(/^[1-9]\d+ vectors of typed data agree\.$/),
      expect.stringMatching(/^[1-9]\d+ vectors of relayer authentication agree\.$/),
    ],
  });
});

test('it submits a write and claims it as a relayer', async (context) => {
  if (!hasPython) context.skip(skipWithoutPython);
  const gateway = await startGateway();
  onTestFinished(async () => void (await gateway.stop()));
  expect(await runPython('submit_and_claim.py', ['--url', gateway.url])).toEqual({
    code: 0,
    errors: '',
    lines: [
      expect.stringMatching(/^Submitted [0-9a-f-]{36}, which is pending\.$/),
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8 has claimed it: it is processing.',
      'It is failed in the end: An example in Python, which submits nothing to a chain.',
    ],
  });
});

test('what the gateway refuses is reported in its own words', async (context) => {
  if (!hasPython) context.skip(skipWithoutPython);
  const gateway = await startGateway({ env: { ADMIN_API_KEY: 'another-admin-key' } });
  onTestFinished(async () => void (await gateway.stop()));
  const { code, errors } = await runPython('submit_and_claim.py', ['--url', gateway.url]);
  expect(code).toBe(1);
  expect(errors).toBe('401: The X-Admin-Key is wrong.\n');
});

test('a client in Go, in its standard library, does the same; what its user has signed holds', async (context) => {
  if (!hasGo) context.skip('there is no go here');
  const gateway = await startGateway();
  onTestFinished(async () => void (await gateway.stop()));
  const { code, errors, lines } = await run({ folder: 'go', command: 'go', args: ['run', '.', '-url', gateway.url] });
  expect({ code, errors, lines }).toEqual({
    code: 0,
    errors: '',
    lines: [
      expect.stringMatching(/^Submitted [0-9a-f-]{36}, which is pending\.$/),
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8 has claimed it: it is processing.',
      'It is failed in the end: An example in Go, which submits nothing to a chain.',
    ],
  });
  const [requestId] = /[0-9a-f-]{36}/.exec(lines[0] ?? '') ?? [];
  const answer = await fetch(`${gateway.url}/requests/${requestId}`);
  // As it was written.
  const { action, params, signer } = (await answer.json()) as RequestRecord<'WRITE_DATA_FOR'>;
  const chain = { chainId: 31337, forwarder: '0x5FC8d32690cc91D4c39d9d3abcBD16989F875707' } as const;
  expect(await recoverRequestSigner({ action, params, nonce: 0n, ...chain })).toBe(signer);
});
