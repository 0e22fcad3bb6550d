import { readFile } from 'node:fs/promises';
import type { ActionParams } from '@prism-gateway/protocol';
import { fillQueue } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { signWrite, startProgram, startWorld } from '@prism-gateway/testing/world';
import { keccak256, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { relayer as program } from '../../../bin/programs.mjs';

const JUNK = sized({ small: 3000, long: 1_000_000 });
const MAX_RSS_MB = 200;
const TIMEOUT_MS = 120_000;

/** The most memory that a process has had, in megabytes. @see proc_pid_status(5) */
async function readPeakMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

test(`a relayer behind ${JUNK} junk requests keeps below ${MAX_RSS_MB} MB, and carries out an honest one`, async () => {
  await using world = await startWorld({ users: 1, relayers: 1 });
  const [user] = world.users;
  if (user === undefined) throw new Error('the world has a user');
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 5);
  const wish = { dataId: '0xda7a', payload: '0xaa', relayerFee: 3000n * 10n ** 18n, nonce: 1n, timestamp } as const;
  const params = (await signWrite(world.deployment, user, wish)) as ActionParams<'WRITE_DATA_FOR'>;
  const request = { chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params } as const;
  // Bad signatures in the user's name, and free and void ones in names of their own.
  function* makeJunk() {
    for (let i = 0; i < JUNK; i++) {
      const r = keccak256(numberToHex(i));
      const signer = `0x${i.toString(16).padStart(40, 'e')}` as const;
      const change = [{ r }, { r, signer, relayerFee: '0' }, { r, signer, timestamp: '0' }][i % 3];
      yield { ...request, params: { ...params, ...change } };
    }
  }
  await fillQueue(world.gateway, makeJunk());
  // As `npm run relayer` starts it: what its memory is, its flags decide too.
  const env = { ...program.env, ...world.relayerEnv(0) };
  await using relayer = await startProgram('relayer', { env, nodeFlags: program.nodeFlags });
  const { requestId } = await world.client.submitRequest(request);
  const read = async () => (await world.client.getRequest(requestId)).status;
  await expect.poll(read, { timeout: TIMEOUT_MS, interval: 500 }).toBe('success');
  expect(await readPeakMb(relayer.process.pid)).toBeLessThan(MAX_RSS_MB);
}, 2_400_000);
