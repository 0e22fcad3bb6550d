import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { keccak256, stringToHex } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Client, relayerHeaders, WalkthroughError } from './client.ts';
import { showAnswer, showCall, showNote, showStep } from './show.ts';
import { signEveryAction } from './signedRequests.ts';

/** Calls that race for one request. */
const RIVALS = 20;

export const newAccount = () => privateKeyToAccount(generatePrivateKey());

/** An administrator puts two relayers on the whitelist. */
export async function whitelistRelayers(client: Client, adminKey: string): Promise<PrivateKeyAccount[]> {
  showStep(
    'An administrator whitelists two relayers',
    'Only whitelisted relayers may list pending requests and claim them.',
  );
  const relayers = [newAccount(), newAccount()];
  for (const [i, { address }] of relayers.entries()) {
    const body = { address, label: `walkthrough-${i + 1}` };
    const headers = { 'X-Admin-Key': adminKey };
    await client.call({ method: 'POST', path: '/admin/relayers', body, headers, as: 'X-Admin-Key', expected: 201 });
  }
  return relayers;
}

/** Takes the relayers off the whitelist again. */
export async function removeRelayers(client: Client, adminKey: string, relayers: readonly PrivateKeyAccount[]) {
  showStep('The administrator takes both relayers off the whitelist', 'The walkthrough leaves no rights behind.');
  for (const { address } of relayers) {
    const headers = { 'X-Admin-Key': adminKey };
    const path = `/admin/relayers/${address}`;
    await client.call({ method: 'DELETE', path, headers, as: 'X-Admin-Key', expected: 200 });
  }
}

/** A wallet signs one request of each action, and posts them. */
export async function submitEveryAction(client: Client, wallet: PrivateKeyAccount): Promise<RequestRecord[]> {
  const why =
    'No gas, no account here: the EIP-712 signature in params is the proof, and the Forwarder checks it on-chain.';
  showStep('A wallet signs one request of each of the twelve actions', why);
  const records: RequestRecord[] = [];
  for (const [i, body] of (await signEveryAction(wallet, newAccount())).entries()) {
    // The first in full; of the others a line each says what is new.
    const shown = i > 0 && ({ shownBody: JSON.stringify(body), quietAnswer: true } as const);
    const call = { method: 'POST', path: '/requests', body, as: 'public', expected: 201, ...shown };
    const record = (await client.call(call)).body as RequestRecord;
    records.push(record);
    showNote(`${record.action} is ${record.status} as ${record.requestId}`);
  }
  return records;
}

/** A relayer lists what is pending. */
export async function listPending(client: Client, relayer: PrivateKeyAccount): Promise<void> {
  showStep(
    'A relayer lists pending requests',
    'Oldest first, page by page; lastKey leads to the next page. The relayer signs five lines.',
  );
  const path = '/requests?status=pending&limit=2';
  const headers = await relayerHeaders(relayer, { method: 'GET', path });
  const { body } = await client.call({
    method: 'GET',
    path,
    headers,
    as: 'relayer signature',
    quiet: true,
    expected: 200,
  });
  const page = body as RequestPage;
  showCall({ method: 'GET', target: path, as: 'relayer signature' });
  const items = page.items.map(({ requestId, action, status, createdAt }) => ({
    requestId,
    action,
    status,
    createdAt,
  }));
  showAnswer(
    200,
    JSON.stringify({ items, count: page.count, lastKey: page.lastKey && `${page.lastKey.slice(0, 16)}…` }, null, 1),
  );
}

async function claim(client: Client, relayer: PrivateKeyAccount, requestId: string) {
  const [method, path, body] = ['PATCH', `/requests/${requestId}`, JSON.stringify({ status: 'processing' })];
  const headers = { 'Content-Type': 'application/json', ...(await relayerHeaders(relayer, { method, path, body })) };
  const response = await fetch(`${client.url}${path}`, { method, headers, body });
  return { relayer, status: response.status, body: (await response.json()) as unknown };
}

/** Twenty rivals claim one request. @returns the winner */
export async function raceForClaim(
  client: Client,
  relayers: readonly PrivateKeyAccount[],
  { requestId }: RequestRecord,
): Promise<PrivateKeyAccount> {
  showStep(
    `${RIVALS} rivals claim the same request at once`,
    'A claim is one conditional write: one wins, all others get 409.',
  );
  showCall({
    method: 'PATCH',
    target: `/requests/${requestId}  × ${RIVALS}`,
    as: 'relayer signature',
    body: { status: 'processing' },
  });
  const rivals = Array.from({ length: RIVALS }, (_, i) => relayers[i % relayers.length] as PrivateKeyAccount);
  const answers = await Promise.all(rivals.map((relayer) => claim(client, relayer, requestId)));
  const [won, ...more] = answers.filter(({ status }) => status === 200);
  const [lost, ...others] = answers.filter(({ status }) => status === 409);
  if (won === undefined || lost === undefined || more.length > 0 || others.length !== RIVALS - 2) {
    const statuses = answers.map(({ status }) => status).join(', ');
    throw new WalkthroughError(`The race ended with ${statuses}; one 200 and ${RIVALS - 1} times 409 were expected.`);
  }
  showAnswer(won.status, won.body);
  showAnswer(lost.status, lost.body);
  showNote(`one 200, ${RIVALS - 1} times 409: ${won.relayer.address} holds the request`);
  return won.relayer;
}

async function report(client: Client, relayer: PrivateKeyAccount, requestId: string, body: object): Promise<void> {
  const [method, path] = ['PATCH', `/requests/${requestId}`];
  const headers = await relayerHeaders(relayer, { method, path, body: JSON.stringify(body) });
  await client.call({ method, path, body, headers, as: 'relayer signature', expected: 200 });
}

/** The winner reports success; another request is claimed and reported as failed. */
export async function reportOutcomes(
  client: Client,
  winner: PrivateKeyAccount,
  [won, other]: readonly RequestRecord[],
): Promise<void> {
  if (won === undefined || other === undefined) throw new WalkthroughError('There are too few requests.');
  showStep(
    'The winner reports success',
    'Only the relayer that claimed may; the hash of its transaction goes into the record.',
  );
  await report(client, winner, won.requestId, { status: 'success', txHash: keccak256(stringToHex(won.requestId)) });
  showStep('A second request is claimed and reported as failed', 'The reason is kept for the user to read.');
  await report(client, winner, other.requestId, { status: 'processing' });
  await report(client, winner, other.requestId, {
    status: 'failed',
    errorMessage: 'execution reverted: InsufficientBalance',
  });
}

/** Anyone reads the record. */
export async function readPublicRecord(
  client: Client,
  wallet: PrivateKeyAccount,
  record: RequestRecord,
): Promise<void> {
  showStep('Anyone reads the public record', 'By its id, or all requests of a signer; no key needed.');
  await client.call({ method: 'GET', path: `/requests/${record.requestId}`, as: 'public', expected: 200 });
  const path = `/requests?signer=${wallet.address}&limit=100`;
  const { body } = await client.call({ method: 'GET', path, as: 'public', quiet: true, expected: 200 });
  const { items, count } = body as RequestPage;
  const byStatus = Object.entries(Object.groupBy(items, ({ status }) => status)).map(
    ([status, of]) => `${of?.length} ${status}`,
  );
  showCall({ method: 'GET', target: path, as: 'public' });
  showNote(`${count} requests of this wallet: ${byStatus.join(', ')}`);
}
