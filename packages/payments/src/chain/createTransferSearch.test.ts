import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { listenOnLoopback } from '@prism-gateway/testing';
import { createPublicClient, http, numberToHex, padHex } from 'viem';
import { expect, test } from 'vitest';
import { openPaymentJournal } from '../journal/openPaymentJournal.ts';
import { createTransferSearch } from './createTransferSearch.ts';

const ADDRESS = '0x5fbdb2315678afecb367f032d93f642f64180aa3';

const hashOf = (number: number) => padHex(numberToHex(number + 1), { size: 32 });

/** A block without logs. */
const headerOf = (number: number) => ({
  number: numberToHex(number),
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  logsBloom: `0x${'00'.repeat(256)}`,
});

/** How many blocks a filter of logs spans. */
function countBlocks(filter: unknown): number {
  const { fromBlock, toBlock } = filter as { readonly fromBlock: string; readonly toBlock: string };
  return Number(toBlock) - Number(fromBlock) + 1;
}

/** A search of a chain without logs, whose node may refuse; and what it was asked. */
async function open(onQuery: (count: number, blocks: number) => 'answer' | 'refuse') {
  const chain = { id: 1, head: 20_000, queries: 0, from: [] as number[] };
  const server = await listenOnLoopback(
    createServer(async (request, response) => {
      // The client below sends one call at a time.
      const { id, method, params } = (await json(request)) as {
        id: number;
        method: string;
        params: readonly unknown[];
      };
      const isLogs = method === 'eth_getLogs';
      if (isLogs) chain.from.push(Number((params[0] as { readonly fromBlock: string }).fromBlock));
      if (isLogs && onQuery(++chain.queries, countBlocks(params[0])) === 'refuse')
        return void response.writeHead(429).end();
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          result: isLogs
            ? []
            : method === 'eth_chainId'
              ? numberToHex(chain.id)
              : headerOf(params[0] === 'latest' ? chain.head : Number(params[0])),
        }),
      );
    }),
  );
  const dir = mkdtempSync(join(tmpdir(), 'search-'));
  const journal = openPaymentJournal({ file: join(dir, 'payments.db'), now: Date.now });
  const stopping = new AbortController();
  const { search, saw } = createTransferSearch({
    client: createPublicClient({ transport: http(server.url, { retryCount: 0 }) }),
    transfers: journal.transfers,
    broadcasts: journal.broadcasts,
    chainId: 1,
    self: ADDRESS,
    creditToken: ADDRESS,
    relayers: [ADDRESS],
    listParties: () => [{ side: 'to', address: ADDRESS }],
    fromBlock: 0,
    reorgDepth: 8,
    monotonicNow: () => performance.now(),
    signal: stopping.signal,
  });
  const close = async () => {
    await server.close();
    journal.close();
    rmSync(dir, { recursive: true });
  };
  return { chain, search, saw, stopping, [Symbol.asyncDispose]: close };
}

test('queries that a busy node made smaller grow again', async () => {
  await using scene = await open((count) => (count <= 3 ? 'refuse' : 'answer'));
  const { chain, search } = scene;
  expect((await search()).headBlock).toBe(20_000);
  [chain.head, chain.queries] = [40_000, 10];
  await search();
  expect(chain.queries - 10).toBe(2);
});

test('a search of many queries ends with its signal, after the query that it is at', async () => {
  await using scene = await open((count, blocks) => {
    if (count === 12) scene.stopping.abort();
    return blocks > 1000 ? 'refuse' : 'answer';
  });
  scene.chain.head = 1_000_000;
  await expect(scene.search()).rejects.toThrow('aborted');
  expect(scene.chain.queries).toBe(12);
});

test('a node that takes few blocks a query, fewer than may be replaced, is searched all the same, again and again', async () => {
  await using scene = await open((_, blocks) => (blocks > 5 ? 'refuse' : 'answer'));
  const { chain, search } = scene;
  chain.head = 100;
  expect((await search()).headBlock).toBe(100);
  for (chain.head = 101; chain.head < 110; chain.head++) expect((await search()).headBlock).toBe(chain.head);
});

// Shows PAY-13.
test('blocks that another chain was asked for instead, for a moment, are searched when the right one answers', async () => {
  await using scene = await open(() => 'answer');
  const { chain, search } = scene;
  await search();
  Object.assign(chain, { id: 5, head: 1_000_000 });
  await expect(search()).rejects.toThrow('it is of chain 5');
  Object.assign(chain, { id: 1, head: 20_100, from: [] });
  expect((await search()).headBlock).toBe(20_100);
  expect(Math.min(...chain.from)).toBeLessThanOrEqual(20_000);
});

// Shows PAY-13.
test('a block that was seen is waited for; one that the chain cannot have yet stops no payments', async () => {
  await using scene = await open(() => 'answer');
  const { chain, search, saw } = scene;
  await search();
  saw(20_003);
  await expect(search()).rejects.toThrow('20003 was seen before');
  chain.head = 20_003;
  await search();
  // The pending block of a node that a proxy has led to for a moment.
  saw(9_000_000);
  expect((await search()).headBlock).toBe(20_003);
});
