import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { listenOnLoopback } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { type Address, createPublicClient, numberToHex, padHex } from 'viem';
import { expect, test } from 'vitest';
import { openPaymentJournal } from '../journal/openPaymentJournal.ts';
import { encodePayout, payoutIdOf, TRANSFER_TOPIC } from './calls.ts';
import { connectNode } from './connectNode.ts';
import { createTransferSearch } from './createTransferSearch.ts';
import { isCounted } from './isCounted.ts';

const RELAYER = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const TOKEN = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
const STRANGER: Address = '0x00000000000000000000000000000000000000ff';
const PAYOUT = encodePayout({
  creditToken: TOKEN,
  payouts: TOKEN,
  paymentIntentId: 'pi_1',
  walletAddress: STRANGER,
  credits: 1n,
});
const HEAD = 100;
const MEGABYTE = 1024 * 1024;

const hashOf = (number: number) => padHex(numberToHex(number + 1), { size: 32 });

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A node whose every log is a stranger's; and what it was asked. */
async function startFlood(flood: { readonly logs: number; readonly hasTransactions: boolean }) {
  const seen = { reads: 0, atOnce: 0, mostAtOnce: 0 };
  const logs = Array.from({ length: flood.logs }, (_, place) => ({
    address: TOKEN,
    topics: [TRANSFER_TOPIC, padHex(RELAYER, { size: 32 }), padHex(STRANGER, { size: 32 })],
    data: padHex('0x', { size: 32 }),
    logIndex: numberToHex(place),
    transactionHash: hashOf(1_000_000 + place),
    blockHash: hashOf(1),
    blockNumber: '0x1',
    transactionIndex: numberToHex(place),
  }));
  const logsText = JSON.stringify(logs);
  const header = { number: numberToHex(HEAD), hash: hashOf(HEAD), parentHash: hashOf(HEAD - 1) };
  const readTransaction = (hash: unknown) => {
    seen.reads++;
    return flood.hasTransactions ? { hash, from: STRANGER, to: TOKEN, input: PAYOUT.data } : null;
  };
  const answer = ({ id, method, params }: Call) => {
    const isRead = method === 'eth_getTransactionByHash';
    const other = method === 'eth_chainId' ? '0x1' : header;
    const result = method === 'eth_getLogs' ? logsText : JSON.stringify(isRead ? readTransaction(params[0]) : other);
    return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  };
  const server = await listenOnLoopback(
    createServer(async (request, response) => {
      const calls = (await json(request)) as Call | readonly Call[];
      const count = Array.isArray(calls) ? calls.length : 1;
      seen.atOnce += count;
      seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce);
      setImmediate(() => {
        seen.atOnce -= count;
        response.setHeader('content-type', 'application/json');
        response.end(Array.isArray(calls) ? `[${calls.map(answer).join()}]` : answer(calls as Call));
      });
    }),
  );
  const { signal } = new AbortController();
  const dir = mkdtempSync(join(tmpdir(), 'flood-'));
  const journal = openPaymentJournal({ file: join(dir, 'payments.db'), now: Date.now });
  const { search } = createTransferSearch({
    client: createPublicClient({
      transport: connectNode({ rpcUrl: server.url, timeoutMs: TIMEOUT_MS, attempts: 1, signal }),
    }),
    transfers: journal.transfers,
    broadcasts: journal.broadcasts,
    chainId: 1,
    self: RELAYER,
    creditToken: TOKEN,
    relayers: [RELAYER],
    listParties: () => [{ side: 'to', address: STRANGER }],
    fromBlock: 0,
    reorgDepth: 1,
    monotonicNow: () => performance.now(),
    signal,
  });
  const close = async () => {
    await server.close();
    journal.close();
    rmSync(dir, { recursive: true });
  };
  return { seen, search, transfers: journal.transfers, [Symbol.asyncDispose]: close };
}

test('a node that gives 20,000 logs of nothing in one answer is left after a few reads', async () => {
  await using flood = await startFlood({ logs: 20_000, hasTransactions: false });
  const before = process.memoryUsage().rss;
  await expect(flood.search()).rejects.toThrow('and not its transaction');
  expect(flood.seen.reads).toBeLessThanOrEqual(50);
  expect(process.memoryUsage().rss - before).toBeLessThan(500 * MEGABYTE);
});

test('payout ids that strangers forge by the thousand are read once, a few at a time, and pay nothing', async () => {
  await using flood = await startFlood({ logs: 1000, hasTransactions: true });
  await flood.search();
  await flood.search();
  expect(flood.seen.reads).toBe(1000);
  expect(flood.seen.mostAtOnce).toBeLessThanOrEqual(50);
  const found = flood.transfers.find(payoutIdOf('pi_1'));
  const payer = { journal: { fact: () => undefined }, config: { self: RELAYER, others: [] } } as const;
  expect(found.filter((one) => isCounted(payer, one))).toEqual([]);
});
