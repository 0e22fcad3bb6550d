import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { privateKeyToAccount } from 'viem/accounts';
import { RELAYER_KEYS } from '../rigs/documentedGateway.ts';
import type { FuzzTargets } from './callArbitrary.ts';
import type { Proofs } from './fuzzCall.ts';

/** A gateway process with something in it to ask for. */
export interface FuzzTarget {
  readonly gateway: RunningGateway;
  readonly port: number;
  readonly proofs: Proofs;
  readonly targets: FuzzTargets;
}

/** Not the well-known one, so that an answer that holds it gives it away. */
const ADMIN_KEY = 'the-administrators-key-while-fuzzing';

/** Requests that claims and reports are tried on. */
const REQUESTS = 40;

/** Starts the gateway, whitelists the relayer, and fills in requests, a token and presigned URLs. */
export async function startFuzzTarget(): Promise<FuzzTarget> {
  const gateway = await startGateway({ env: { ADMIN_API_KEY: ADMIN_KEY } });
  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<object> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const response = await fetch(`${gateway.url}${path}`, { ...init, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${path} was answered with ${response.status}.`);
    return Object(await response.json());
  }
  const textIn = (answer: object, field: string) => String(Reflect.get(answer, field));
  const relayer = privateKeyToAccount(RELAYER_KEYS.first).address;
  await post('/admin/relayers', { address: relayer }, { 'x-admin-key': ADMIN_KEY });
  const token = textIn(await post('/dev/identity/token', { sub: 'alice' }), 'access_token');
  const creations = Array.from({ length: REQUESTS }, () => post('/requests', EXAMPLE_REQUESTS.WRITE_DATA_FOR));
  const requestIds = (await Promise.all(creations)).map((record) => textIn(record, 'requestId'));
  const order = { projectId: `0x${'12'.repeat(16)}`, key: `0x${'34'.repeat(32)}` };
  const objects = await Promise.all(
    ['put', 'get', 'head', 'delete'].map(async (operation) => {
      const signed = await post('/storage/sign', { ...order, operation }, { authorization: `Bearer ${token}` });
      const { pathname, search } = new URL(textIn(signed, 'url'));
      return `${pathname}${search}`;
    }),
  );
  const { signer } = EXAMPLE_REQUESTS.WRITE_DATA_FOR.params;
  const page = await fetch(`${gateway.url}/requests?signer=${signer}&limit=2`);
  const lastKey = textIn(Object(await page.json()), 'lastKey');
  return {
    gateway,
    port: Number(new URL(gateway.url).port),
    proofs: { adminKey: ADMIN_KEY, token },
    targets: { requestIds, signer, objects, lastKey },
  };
}
