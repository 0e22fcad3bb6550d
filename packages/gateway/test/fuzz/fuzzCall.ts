import { type Account, openAccount } from '@prism-gateway/node/accounts';
import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import { keccak256 } from 'viem';
import { RELAYER_KEYS } from '../rigs/documentedGateway.ts';

/** Who a call says it comes from. */
export type Proof = 'none' | 'admin' | 'relayer' | 'stranger' | 'user' | 'all';

/** How a call's body is sent. */
export type Framing = 'length' | 'chunked' | 'too short' | 'too long' | 'none';

/** A call as the fuzzer thinks it up, before it becomes bytes. */
export interface FuzzCall {
  readonly method: string;
  /** Latin-1, as it goes over the wire; with its query. */
  readonly target: string;
  readonly version: '1.1' | '1.0';
  readonly headers: readonly (readonly [string, string])[];
  readonly proof: Proof;
  readonly body: Uint8Array;
  readonly framing: Framing;
}

/** A caller's credentials at the gateway under test. */
export interface Proofs {
  readonly adminKey: string;
  readonly token: string;
}

const accounts = new Map<string, Promise<Account>>();

/** Opens an account once: it signs in native code. */
function accountOf(name: 'first' | 'stranger'): Promise<Account> {
  const account = accounts.get(name) ?? openAccount({ privateKey: RELAYER_KEYS[name] });
  accounts.set(name, account);
  return account;
}

async function relayerHeaders(name: 'first' | 'stranger', { method, target, body }: FuzzCall): Promise<string[]> {
  const account = await accountOf(name);
  const timestamp = String(Date.now());
  const [path = ''] = target.split('?');
  const message = createRelayerAuthMessage({ timestamp, method, path, bodyHash: keccak256(body) });
  return [
    `X-Relayer-Address: ${account.address}`,
    `X-Relayer-Timestamp: ${timestamp}`,
    `X-Relayer-Signature: ${await account.signMessage({ message })}`,
  ];
}

async function proofHeaders(call: FuzzCall, { adminKey, token }: Proofs): Promise<string[]> {
  const { proof } = call;
  return [
    ...(proof === 'admin' || proof === 'all' ? [`X-Admin-Key: ${adminKey}`] : []),
    ...(proof === 'user' || proof === 'all' ? [`Authorization: Bearer ${token}`] : []),
    ...(proof === 'relayer' || proof === 'all' ? await relayerHeaders('first', call) : []),
    ...(proof === 'stranger' ? await relayerHeaders('stranger', call) : []),
  ];
}

/** Splits a body into chunks of uneven size. */
function writeChunks(body: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0, size = 1; at < body.length; at += size, size = size * 3 + 1) {
    const chunk = body.subarray(at, at + size);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function framingHeaders({ framing, body }: FuzzCall): string[] {
  if (framing === 'none') return [];
  if (framing === 'chunked') return ['Transfer-Encoding: chunked'];
  const lengths = { length: body.length, 'too short': Math.floor(body.length / 2), 'too long': body.length + 7 };
  return [`Content-Length: ${lengths[framing]}`];
}

/** Whether the server has all that the call announces, and so must answer without waiting for more. */
export function isWhole({ framing }: FuzzCall): boolean {
  return framing !== 'too long';
}

/** Writes a call as the bytes of an HTTP request after which the connection closes. */
export async function writeCall(call: FuzzCall, proofs: Proofs): Promise<Buffer> {
  const { method, target, version, headers, framing, body } = call;
  const own = headers.map(([name, value]) => `${name}: ${value}`);
  const host = headers.some(([name]) => name.toLowerCase() === 'host') ? [] : ['Host: 127.0.0.1'];
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...host,
    ...own,
    ...(await proofHeaders(call, proofs)),
    ...framingHeaders(call),
    'Connection: close',
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (framing === 'none') return head;
  return Buffer.concat([head, framing === 'chunked' ? writeChunks(body) : body]);
}
