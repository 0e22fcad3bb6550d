import { randomBytes } from 'node:crypto';
import type { RunningGateway } from '@prism-gateway/testing';
import { createKeyPair } from '../signing/createKeyPair.ts';
import { hashBody } from '../signing/hashBody.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { signRelayerCall } from '../signing/signRelayerCall.ts';
import type { WriteDataParams } from './createParams.ts';

/** The calls that are measured, by what they are for. */
export interface GatewayCalls {
  /** @returns the new request's id */
  create(chainName: string, params: WriteDataParams): Promise<string>;
  claim(requestId: string): Promise<void>;
  report(requestId: string): Promise<void>;
  get(requestId: string): Promise<void>;
  /** Reads one page of 100 of a signer. @returns how many it held */
  listOf(signer: string): Promise<number>;
  /** Reads one page of 100 of what is pending on a chain. @returns how many it held */
  listPending(chainName: string): Promise<number>;
  sign(): Promise<void>;
}

const PAGE = 100;

async function readJson(response: Response): Promise<Record<string, unknown>> {
  const body = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${body.slice(0, 200)}`);
  // The gateway answers with JSON objects.
  return JSON.parse(body) as Record<string, unknown>;
}

/** Writes the headers of one call of a relayer. */
function createRelayerHeaders(crypto: SigningCrypto, relayer: ReturnType<typeof createKeyPair>) {
  return (method: 'GET' | 'PATCH', path: string, body: string): Record<string, string> => {
    const call = { method, path, bodyHash: hashBody(crypto.keccak256, body), timestampMs: Date.now() };
    const lines = signRelayerCall(crypto, { relayer, call }).trimEnd().split('\r\n');
    return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
  };
}

async function whitelist({ url, adminKey }: RunningGateway, address: string): Promise<void> {
  await readJson(
    await fetch(`${url}/admin/relayers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-key': adminKey },
      body: JSON.stringify({ address }),
    }),
  );
}

async function fetchToken(url: string): Promise<string> {
  const answer = await fetch(`${url}/dev/identity/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub: 'bench' }),
  });
  return String((await readJson(answer)).access_token);
}

/**
 * Prepares calls of one user and one relayer.
 *
 * @param gateway running, with its development issuer
 * @param crypto what relayers sign with
 * @returns the calls; each throws an Error where the gateway refuses it
 */
export async function createGatewayCalls(gateway: RunningGateway, crypto: SigningCrypto): Promise<GatewayCalls> {
  const { url } = gateway;
  const relayer = createKeyPair(crypto);
  await whitelist(gateway, relayer.address);
  const token = await fetchToken(url);
  const relayerHeaders = createRelayerHeaders(crypto, relayer);
  const json = { 'content-type': 'application/json' };

  async function patch(requestId: string, change: object): Promise<void> {
    const path = `/requests/${requestId}`;
    const body = JSON.stringify(change);
    const headers = { ...json, ...relayerHeaders('PATCH', path, body) };
    await readJson(await fetch(`${url}${path}`, { method: 'PATCH', headers, body }));
  }

  async function list(query: string, headers: Record<string, string>): Promise<number> {
    return Number((await readJson(await fetch(`${url}/requests?${query}&limit=${PAGE}`, { headers }))).count);
  }

  return {
    async create(chainName, params) {
      const body = JSON.stringify({ chainName, action: 'WRITE_DATA_FOR', params });
      return String(
        (await readJson(await fetch(`${url}/requests`, { method: 'POST', headers: json, body }))).requestId,
      );
    },
    claim: (requestId) => patch(requestId, { status: 'processing' }),
    report: (requestId) => patch(requestId, { status: 'success', txHash: `0x${randomBytes(32).toString('hex')}` }),
    async get(requestId) {
      await readJson(await fetch(`${url}/requests/${requestId}`));
    },
    listOf: (signer) => list(`signer=${signer}`, {}),
    listPending: (chainName) => list(`status=pending&chainName=${chainName}`, relayerHeaders('GET', '/requests', '')),
    async sign() {
      const id = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;
      const body = JSON.stringify({ projectId: id(16), key: id(32), operation: 'put' });
      const headers = { ...json, authorization: `Bearer ${token}` };
      await readJson(await fetch(`${url}/storage/sign`, { method: 'POST', headers, body }));
    },
  };
}
