import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import type { TestProject } from 'vitest/node';
import { closeTarget } from './rig/closeTarget.ts';
import { openTarget } from './rig/openTarget.ts';
import { DEFAULT_LIMITS, readFacts } from './rig/readFacts.ts';

/** Limits that no run reaches: the answers carry their headers, and nothing waits. */
const HIGH_LIMITS = {
  RATE_LIMIT_WRITES: '1000000',
  RATE_LIMIT_WRITE_BYTES: '1000000000',
  RATE_LIMIT_READ_BYTES: '1000000000',
  RATE_LIMIT_READS: '1000000',
  RATE_LIMIT_SIGN: '1000000',
  RATE_LIMIT_CLAIMS: '1000000',
  RATE_LIMIT_REPORTS: '1000000',
  RATE_LIMIT_AUTH_FAILURES: '1000000',
  RATE_LIMIT_ADMIN_FAILURES: '1000000',
};

async function stopOwn(gateway: RunningGateway): Promise<void> {
  const code = await gateway.stop();
  const faults = gateway.output.filter((line) => line.includes('"msg":"request failed"'));
  if (code !== 0) throw new Error(`The gateway under test ended with ${code}.`);
  if (faults.length > 0) throw new Error(`The gateway under test failed inside:\n${faults.join('\n')}`);
}

/** Finds or starts the gateway to test, and gives the tests relayers on its whitelist. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = readFacts(process.env);
  const own = given === undefined ? await startGateway({ env: HIGH_LIMITS }) : undefined;
  try {
    // One of the two is there.
    const { url, adminKey } = (given ?? own) as { url: string; adminKey: string };
    const target = await openTarget(given ?? { url, adminKey, tokens: [], ...DEFAULT_LIMITS });
    const startedAt = new Date(Date.now() + target.clockAheadMs - 2000).toISOString();
    project.provide('target', target);
    return () => (own ? stopOwn(own) : closeTarget(target, { startedAt }));
  } catch (error) {
    await own?.stop();
    throw error;
  }
}
