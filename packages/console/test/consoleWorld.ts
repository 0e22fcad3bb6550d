import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { CHAIN, callAsRelayer, readRelayer, SIGNER, submitRequest } from './consoleRig.ts';

/** Statuses of the operator's other programs; an answer may depend on what it is asked about. */
type Statuses = Record<string, (about: string) => object>;

/** A gateway, and the programs beside it, which answer as ours do. */
export interface ConsoleWorld {
  readonly gateway: RunningGateway;
  readonly statuses: Statuses;
  close(): Promise<void>;
}

async function serve(report: (about: string) => object): Promise<Server> {
  const server = createServer(({ url = '' }, outgoing) => {
    const about = new URL(url, 'http://127.0.0.1').searchParams.get('about') ?? '';
    outgoing.end(JSON.stringify(report(about)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

// A listening TCP server has an AddressInfo.
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/status`;

/** Starts them. @param env - further settings of the gateway */
export async function openConsoleWorld(env: Record<string, string> = {}): Promise<ConsoleWorld> {
  const nothing = () => ({});
  const statuses: Statuses = { relayer: nothing, payments: nothing, 'gas-monitor': nothing, watchtower: nothing };
  const servers = await Promise.all(
    Object.keys(statuses).map((name) => serve((about) => statuses[name]?.(about) ?? {})),
  );
  const urls = Object.keys(statuses).map((name, i) => `${name}=${urlOf(servers[i] as Server)}`);
  const gateway = await startGateway({
    env: {
      WEBHOOKS_ALLOW_PRIVATE: 'true',
      EXPLORER_URLS: `${CHAIN}=https://explorer.example/tx/{hash}`,
      STATUS_URLS: [...urls, 'relayer-2=http://127.0.0.1:1/status'].slice(0, env.DOWN === undefined ? 4 : 5).join(','),
      ...env,
    },
  });
  return {
    ...{ gateway, statuses },
    async close() {
      await gateway.kill();
      for (const server of servers) server.close().closeAllConnections();
    },
  };
}

export const TX = `0x${'ab'.repeat(32)}`;
const OTHER_TX = `0x${'cd'.repeat(32)}`;
export const PAYMENT = 'pi_3QxHeld';

/** The contents of the world. */
export interface Filled {
  readonly address: string;
  /** Left by the relayer, carried out with a raised fee, failed, and held by the relayer. */
  readonly left: string;
  readonly done: string;
  readonly failed: string;
  readonly held: string;
  /** When it was posted, in milliseconds since the epoch. */
  readonly leftMs: number;
  readonly doneMs: { readonly claimed: number; readonly ended: number };
}

/** A relayer's account of a request. */
function describeStory(filled: Filled, about: string): object | undefined {
  const nothing = { moves: [], submissions: [], transactions: [], losses: [], budgets: [] };
  const verdict = { signer: SIGNER, action: 'WRITE_DATA_FOR', evaluatedAtMs: filled.leftMs };
  if (about === filled.left) {
    const waitsFor = 'gas at a price that its fee pays';
    const message = 'its fee of 1.5 credits pays for 0.0004 ether, and it costs 0.0007';
    const left = { ...verdict, verdict: 'fee', waitsFor, message, recheckAtMs: Date.now() + 600_000 };
    return { ...nothing, requestId: about, verdict: left };
  }
  if (about !== filled.done) return undefined;
  const { claimed, ended } = filled.doneMs;
  // So many eighths of the time that it was held.
  const at = (eighths: number) => claimed + Math.floor(((ended - claimed) * eighths) / 8);
  const transaction = { intentId: 'i#1', nonce: 71, kind: 'call', state: 'confirmed' };
  return {
    ...{ ...nothing, requestId: about, verdict: { ...verdict, verdict: 'ready', evaluatedAtMs: claimed } },
    request: { outcome: { status: 'success', txHash: TX } },
    moves: [
      { state: 'claimed', by: 'claimRequests', atMs: at(0) },
      { state: 'submitted', by: 'submitClaims', atMs: at(2) },
      { state: 'finalized', by: 'finalizeSubmission', atMs: at(7) },
      { state: 'reported', by: 'reportOutcomes', atMs: at(8) },
    ],
    submissions: [{ intentId: 'i#1', gasLimit: '210000', requests: 3, others: [], atMs: at(2) }],
    transactions: [
      { ...transaction, txHash: OTHER_TX, maxFeePerGas: '21000000000', signedAtMs: at(3) },
      {
        ...transaction,
        txHash: TX,
        maxFeePerGas: '26300000000',
        signedAtMs: at(5),
        mined: { atMs: at(6), blockNumber: '4711' },
      },
    ],
  };
}

const iso = (agoMs: number) => `${new Date(Date.now() - agoMs).toISOString().slice(0, 19)}Z`;

/** A payment as the payment relayer tells it. */
const payment = (id: string, state: string, more: object = {}) => ({
  ...{ payment: id, state, stablecoins: '25.00', credits: '25,000.00', tries: '0', listed: iso(900_000) },
  ...{ since: iso(300_000), transaction: '', reason: '', ...more },
});

const HELD_REASON = 'DAILY_LIMIT: 25.00 more would pass 1,000.00 a day';

function alertPayments(state: { released: boolean }, about: string): object {
  const held = state.released
    ? payment(PAYMENT, 'given back', { reason: 'released by ann: the customer is known' })
    : payment(PAYMENT, 'held', { reason: HELD_REASON });
  const events = [
    { at: iso(900_000), event: 'listed: seen' },
    { at: iso(890_000), event: `held: ${HELD_REASON}` },
    ...(state.released ? [{ at: iso(5000), event: 'ann has released it: the customer is known' }] : []),
  ];
  const { tries: _, transaction: __, ...facts } = held;
  return {
    ...{ program: 'payments', owner: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC on chain 31337' },
    counts: { completed: 1204, transferring: 1, seen: 2, ...(state.released ? { 'given back': 1 } : { held: 1 }) },
    conditions: state.released ? [] : [{ name: `PAYMENT_HELD ${PAYMENT}`, since: iso(890_000) }],
    mail: [],
    today: {
      day: iso(0).slice(0, 10),
      completed: 38,
      stablecoins: '975.00',
      stablecoinLimit: '1,000.00',
      credits: '975,000.00',
      creditLimit: '2,000,000.00',
    },
    treasury: { ether: '0.42', stablecoins: '3,210.50', credits: '81,000.00' },
    payments: [held, payment('pi_3QxUnderWay', 'transferring', { transaction: TX })],
    ...(about === PAYMENT && { story: { instance: 'a', payment: { ...facts, wallet: SIGNER }, events, calls: [] } }),
  };
}

const course = (from: number, to: number) =>
  Array.from({ length: 32 }, (_, i) => [Date.now() - (31 - i) * 2_700_000, from + ((to - from) * i) / 31]);

/** Fills the world: requests of every state, a relayer with its story, a held payment, a lie that was found, and low gas. */
export async function fillWorld({
  gateway,
  statuses,
}: ConsoleWorld): Promise<Filled & { paying: { released: boolean } }> {
  const admin = (method: string, path: string, json?: unknown) =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { 'x-admin-key': gateway.adminKey, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
  const address = await readRelayer(gateway);
  await admin('POST', '/admin/relayers', { address, label: 'eu-1' });
  const other = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
  await admin('POST', '/admin/relayers', { address: other, label: 'us-2' });
  await admin('POST', `/admin/relayers/${other}/suspend`, { reason: 'two false reports in an hour' });
  const report = async (requestId: string, json: object) => {
    await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, { status: 'processing' });
    await callAsRelayer(gateway, 'PATCH', `/requests/${requestId}`, json);
  };
  for (let n = 0; n < 18; n++) {
    const requestId = await submitRequest(gateway, n % 3 === 0 ? 'eip155:8453' : CHAIN);
    await report(
      requestId,
      n % 6 === 5
        ? { status: 'failed', errorMessage: 'execution reverted: InsufficientBalance()' }
        : { status: 'success', txHash: `0x${n.toString(16).padStart(2, '0').repeat(32)}` },
    );
  }
  const done = await submitRequest(gateway, CHAIN);
  await report(done, { status: 'success', txHash: TX });
  const failed = await submitRequest(gateway, CHAIN);
  const words = Buffer.from('Core: cloud is locked');
  const revert = `0x08c379a0${'20'.padStart(64, '0')}${words.length.toString(16).padStart(64, '0')}${words.toString('hex').padEnd(64, '0')}`;
  await report(failed, { status: 'failed', errorMessage: `execution reverted: ${revert}` });
  const left = await submitRequest(gateway, CHAIN);
  const held = await submitRequest(gateway, CHAIN);
  await callAsRelayer(gateway, 'PATCH', `/requests/${held}`, { status: 'processing' });
  const read = async (id: string) =>
    (await (await fetch(`${gateway.url}/requests/${id}`)).json()) as Record<
      'createdAt' | 'claimedAt' | 'updatedAt',
      string
    >;
  const { claimedAt, updatedAt } = await read(done);
  const doneMs = { claimed: Date.parse(claimedAt), ended: Date.parse(updatedAt) };
  const leftMs = Date.parse((await read(left)).createdAt);
  const filled: Filled = { address, left, done, failed, held, leftMs, doneMs };
  const paying = { released: false };
  const chain = { chainName: CHAIN, spentEther: '0.184', earnedCredits: '412.5' };
  statuses.relayer = (about) => {
    const story = describeStory(filled, about);
    return {
      program: 'relayer',
      relayer: address,
      faults: [],
      warnings: [],
      chains: [{ ...chain, ...(story && { story }) }],
    };
  };
  statuses.payments = (about) => alertPayments(paying, about);
  const gas = { chain: CHAIN, isApproved: true, at: iso(60_000) };
  statuses['gas-monitor'] = () => ({
    ...{ program: 'gas-monitor', limits: 'Warns below 0.10 ETH and 1.00 stablecoins.', mail: [] },
    conditions: [{ name: `GAS_BALANCE ${other} on ${CHAIN}`, since: iso(3_600_000) }],
    accounts: [
      {
        ...gas,
        account: address,
        ether: '0.812',
        isLow: false,
        course: course(1.1, 0.812),
        reach: 'It lasts for about 1640 requests at the recent rate, some 12 days.',
      },
      {
        ...gas,
        account: other,
        ether: '0.061',
        isLow: true,
        course: course(0.2, 0.061),
        reach: 'It lasts for about 120 requests at the recent rate, some 0.9 days.',
      },
    ],
  });
  const finding = {
    requestId: failed,
    relayer: other.toLowerCase(),
    block: '1042',
    foundAtMs: Date.now() - 3_000_000,
    isLie: true,
  };
  statuses.watchtower = () => ({
    ...{ program: 'watchtower', faults: [], enforces: true },
    chains: [
      {
        chainName: CHAIN,
        total: 1,
        requests: { pending: 1, held: 1, watching: 4, done: 16 },
        findings: [
          {
            ...finding,
            kind: 'falseFailure',
            text: 'It reported a failure, and its own transaction had carried the request out two blocks before.',
            txHash: OTHER_TX,
          },
        ],
      },
    ],
  });
  return { ...filled, paying };
}
