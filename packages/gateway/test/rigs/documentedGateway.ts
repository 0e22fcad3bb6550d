import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { vi } from 'vitest';
import { parseSettings } from '../../src/entry/settings.ts';
import { wireGateway } from '../../src/entry/wire.ts';

const BASE = 'http://127.0.0.1:8787';

/** Keys of the well-known development mnemonic "test test … junk", its second to fourth account. */
export const RELAYER_KEYS = {
  first: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  second: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  stranger: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
} as const;

export type RelayerName = keyof typeof RELAYER_KEYS;

export interface Ask {
  readonly method: string;
  /** With its query; or a whole URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Who calls; default this machine. */
  readonly peerAddress?: string;
  /** Signs the call. */
  readonly relayer?: RelayerName;
}

export interface DocumentedGateway {
  readonly adminKey: string;
  ask(ask: Ask): Promise<Response>;
  addressOf(name: RelayerName): string;
  /** Moves the clock on. */
  advance(ms: number): void;
  close(): Promise<void>;
}

async function signCall(name: RelayerName, { method, path, body }: { method: string; path: string; body: string }) {
  const account = privateKeyToAccount(RELAYER_KEYS[name]);
  const timestamp = String(Date.now());
  const [route = ''] = path.split('?');
  const bodyHash = keccak256(Buffer.from(body));
  const message = createRelayerAuthMessage({ timestamp, method, path: route, bodyHash });
  return {
    'x-relayer-address': account.address,
    'x-relayer-timestamp': timestamp,
    'x-relayer-signature': await account.signMessage({ message }),
  };
}

/** Starts the whole gateway in this process, as `npm start` wires it, on a clock that stands still. */
export async function startDocumentedGateway(
  settings: Readonly<Record<string, string>> = {},
): Promise<DocumentedGateway> {
  // Only the clock: the gateway's timers go on.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:30.000Z') });
  const directory = await mkdtemp(join(tmpdir(), 'prism-documented-'));
  const environment = { DATA_DIR: directory, LOG_LEVEL: 'silent', ...settings };
  const gateway = await wireGateway({ settings: parseSettings(environment), environment, publicUrl: BASE });
  return {
    adminKey: 'change-me-admin-key',
    async ask({ method, path, headers, body, relayer, peerAddress = '127.0.0.1' }) {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const signed = relayer === undefined ? {} : await signCall(relayer, { method, path, body: text ?? '' });
      const length = { 'content-length': String(Buffer.byteLength(text ?? '')) };
      const type = text === undefined ? {} : { 'content-type': 'application/json', ...length };
      const init = { method, headers: { ...type, ...signed, ...headers }, ...(text !== undefined && { body: text }) };
      return gateway.fetch(new Request(new URL(path, BASE), init), { peerAddress });
    },
    addressOf: (name) => privateKeyToAccount(RELAYER_KEYS[name]).address,
    advance: (ms) => vi.setSystemTime(Date.now() + ms),
    async close() {
      await gateway.close();
      vi.useRealTimers();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
