import { randomBytes } from 'node:crypto';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { Relayer, Target } from './target.ts';
import { waitOutLimits } from './waitOutLimits.ts';

/** The facts about the gateway under test. */
export interface TargetFacts {
  readonly url: string;
  readonly adminKey: string;
  readonly tokens: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxBatchSize: number;
}

/** Twenty rivals, and one who looks on. */
const RELAYER_COUNT = 21;
const READY_TIMEOUT_MS = 10_000;

async function readClock(url: string): Promise<{ readonly clockAheadMs: number; readonly isLimited: boolean }> {
  const before = Date.now();
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  const response = await fetch(`${url}/requests?signer=0x${'0'.repeat(40)}`, { signal }).catch((cause: unknown) => {
    throw new Error(`No gateway answers at ${url}.`, { cause });
  });
  await response.arrayBuffer();
  if (response.status !== 200)
    throw new Error(`What answers at ${url} is no gateway, or not ready: ${response.status}.`);
  const isLimited = response.headers.has('ratelimit');
  // The header has whole seconds, so the clock stands half a second further on, give or take as much.
  const ahead = Date.parse(response.headers.get('date') ?? '') + 500 - (before + Date.now()) / 2;
  return { clockAheadMs: Math.abs(ahead) > 2000 ? Math.round(ahead) : 0, isLimited };
}

async function hasDevIssuer(url: string): Promise<boolean> {
  const response = await fetch(`${url}/dev/identity/.well-known/openid-configuration`);
  await response.arrayBuffer();
  return response.status === 200;
}

async function whitelist(facts: TargetFacts, run: string): Promise<Relayer> {
  const privateKey = generatePrivateKey();
  const address = privateKeyToAddress(privateKey);
  const headers = { 'x-admin-key': facts.adminKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ address, label: `acceptance run ${run}` });
  const send = () => fetch(`${facts.url}/admin/relayers`, { method: 'POST', headers, body });
  const response = await waitOutLimits(send, (answer) =>
    answer.status === 429 ? (answer.headers.get('retry-after') ?? '1') : undefined,
  );
  const text = await response.text();
  if (response.status === 401) throw new Error(`${facts.url} refuses the admin key: pass --admin-key.`);
  if (response.status !== 201) throw new Error(`${facts.url} did not whitelist a relayer: ${response.status} ${text}`);
  return { privateKey, address };
}

/**
 * Looks at a gateway and prepares a run on it: its clock, what it offers, and relayers of the run's own on its whitelist.
 *
 * @param relayerCount - how many relayers to whitelist
 * @throws Error in one sentence if nothing answers, or the admin key is refused
 */
export async function openTarget(facts: TargetFacts, relayerCount = RELAYER_COUNT): Promise<Target> {
  const run = randomBytes(4).toString('hex');
  const clock = await readClock(facts.url);
  const relayers: Relayer[] = [];
  while (relayers.length < relayerCount) relayers.push(await whitelist(facts, run));
  return { ...facts, ...clock, run, relayers, hasDevIssuer: await hasDevIssuer(facts.url) };
}
