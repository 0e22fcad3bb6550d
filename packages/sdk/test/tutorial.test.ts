import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { measureBundle } from '../scripts/measureBundle.ts';
import { type Stack, startStack } from './startStack.ts';

const TUTORIAL = join(import.meta.dirname, '../../../docs/sdk.md');

/** A wallet in a page's window, with a key of its own. */
const WALLET = `
import { privateKeyToAccount as openKey } from 'viem/accounts';
globalThis.ethereum = { request: async () => [openKey('0x${'5e'.repeat(32)}').address] };
`;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack?.stop();
});

it('the tutorial runs as it stands, block after block', async () => {
  const text = await readFile(TUTORIAL, 'utf8');
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block);
  expect(blocks.length).toBeGreaterThan(8);
  const program = stack.run(['--input-type=module-typescript'], [WALLET, ...blocks].join('\n'));
  const code = await program.ended();
  expect(program.output.join('\n')).toMatch(
    new RegExp(
      [
        '^[0-9a-f-]{36} is pending',
        'nonces 0, 1 and 2',
        'on the chain by 0x[0-9a-f]{64}',
        'hello, world',
        'CREATE_PRISM_WITH_DATA_FOR success',
        'WRITE_DATA_FOR success',
        'MODIFY_DATA_FOR success',
        'ABORTED',
        '\\d{5,6} gas, at least \\d+\\.\\d+ credits',
        '3 writes, 1 signature',
        'signing as 0x[0-9a-fA-F]{40}',
        'still 0x[0-9a-fA-F]{40}',
        'a diary',
        '36 bytes',
        "VALIDATION_FAILED \\[\\s*\\{\\s*path: 'params.cloudId',[^]*$",
      ].join('\n'),
    ),
  );
  expect(code).toBe(0);
});

it('the tutorial names the weights that are measured', async () => {
  const text = await readFile(TUTORIAL, 'utf8');
  const rows = [...text.matchAll(/`@prism-gateway\/sdk\/(\w+)`.*\| ([\d.]+) kB/g)];
  expect(rows.map(([, part]) => part)).toEqual(['requests', 'user', 'storage', 'relayer', 'admin', 'wallet', 'fees']);
  for (const [, part, said] of rows) {
    const source = `export * from '@prism-gateway/sdk/${part}';`;
    const { bytes } = await measureBundle(source, import.meta.dirname);
    expect(Math.abs(bytes / 1000 - Number(said)), part).toBeLessThan(1);
  }
});
