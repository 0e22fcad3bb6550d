import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { type AttackName, attacks, FULL_SIZES, measureHonest, startAttack } from '@prism-gateway/testing/attacks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as programs from '../../../../bin/programs.mjs';

const run = promisify(execFile);
// The keys are the attacks' names.
const names = Object.keys(attacks) as AttackName[];

const [MOST, MOST_OF_A_PEER] = [30, 20];
const CONNECTIONS = 60;
/** Too many calls or bytes, too many pieces, too many header fields. */
const REFUSALS = [429, 413, 431];
const HONEST_MS = 500;
const TIMEOUT_MS = 60_000;

let gateway: RunningGateway;
beforeAll(async () => {
  const { env, nodeFlags } = programs.gateway;
  // The limits of `npm start`, which the rig turns off, and few connections.
  const limits = { RATE_LIMIT_READS: '3000', RATE_LIMIT_WRITES: '600', RATE_LIMIT_WRITE_BYTES: '2000000' };
  const failures = { RATE_LIMIT_AUTH_FAILURES: '120', RATE_LIMIT_ADMIN_FAILURES: '20' };
  const bounds = { MAX_CONNECTIONS: String(MOST), MAX_CONNECTIONS_PER_PEER: String(MOST_OF_A_PEER) };
  gateway = await startGateway({ env: { ...env, ...limits, ...failures, ...bounds }, nodeFlags });
});
afterAll(() => gateway?.kill());

/** How many connections, bodies and answers the gateway has ended so far to make room. */
async function countEnded(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return [...text.matchAll(/^prism_budget_ended\{.*\} (\d+)$/gm)].reduce((sum, [, ended]) => sum + Number(ended), 0);
}

// Shows LIMIT-15.
test.each(names)(
  '%s: what is too much is ended or refused, and an honest client is answered meanwhile',
  async (name) => {
    const before = await countEnded();
    const attack = await startAttack({ name, url: gateway.url, connections: CONNECTIONS, addresses: [] });
    try {
      // A client that does not read does not see its end: the gateway is asked. Who is refused is ended with that.
      const isBounded = async () => {
        const { answers, open } = await attack.state();
        if (open === 0 || REFUSALS.some((status) => answers.has(status))) return true;
        return (await countEnded()) - before >= CONNECTIONS - MOST_OF_A_PEER;
      };
      await expect.poll(isBounded, { timeout: TIMEOUT_MS, interval: 100 }).toBe(true);
      const signal = AbortSignal.timeout(HONEST_MS);
      const honest = await measureHonest({ url: gateway.url, localAddress: '127.0.0.1', everyMs: 20, signal });
      expect(honest).toMatchObject({ failures: 0 });
      expect(honest.calls).toBeGreaterThan(0);
      expect((await attack.state()).tried).toBe(CONNECTIONS);
    } finally {
      await attack.stop();
    }
  },
);

test('npx prism attack knows each attack, with its size', async () => {
  const file = programs.programs.attack.steps[0]?.file ?? '';
  const { stdout } = await run(process.execPath, [file, '--help'], { cwd: new URL('../../../..', import.meta.url) });
  const listed = stdout.split('\nAttacks:\n')[1]?.split('\n\n')[0]?.split('\n') ?? [];
  expect(listed.map((line) => line.trim().split(/\s+/)[0])).toEqual(names);
  for (const [index, name] of names.entries()) expect(listed[index]).toContain(`; ${FULL_SIZES[name]} connections`);
});
