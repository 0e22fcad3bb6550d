import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type BlackHole, type LoopbackServer, listenOnLoopback, startBlackHole } from '@prism-gateway/testing';
import { drawSome } from '@prism-gateway/testing/test-size';
import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPaymentJournal } from '../src/journal/openPaymentJournal.ts';

const program = fileURLToPath(new URL('../src/entry/payments.ts', import.meta.url));
const PRIVATE_KEY = `0x${'5a'.repeat(32)}` as const;
const SELF = privateKeyToAddress(PRIVATE_KEY);
const CREDIT_TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
/** In each URL's user, password and path; in none of the outputs. */
const SECRETS = ['ada-of-the-url', 'pass-of-the-url', 'key-of-the-path', 'a-secret-of-the-test', PRIVATE_KEY.slice(2)];

/** A port that no server of another test can be given. */
const DEAD_URL = 'http://127.0.0.1:2';

let dir: string;
let hole: BlackHole;
let pages: LoopbackServer;
let locked: LoopbackServer;
let frontend: LoopbackServer;
let otherChain: LoopbackServer;

/** A server that answers each call with a JSON, or a text. */
const serve = (answer: unknown, status = 200) =>
  listenOnLoopback(
    createServer((request, response) => {
      text(request).then(
        () => response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer)),
        () => response.destroy(),
      );
    }),
  );

/** A node that knows the id of its chain, and nothing else. */
const serveChain = (chainId: number) =>
  listenOnLoopback(
    createServer(async (request, response) => {
      const { id } = (await json(request)) as { readonly id: number };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: `0x${chainId.toString(16)}` }));
    }),
  );

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'commands-'));
  const journal = openPaymentJournal({ file: join(dir, 'good', 'payments.db'), now: Date.now });
  journal.setFact('owner', `${SELF} on chain 31337`);
  journal.close();
  openPaymentJournal({ file: join(dir, 'bad', 'payments.db'), now: Date.now }).close();
  writeFileSync(join(dir, 'bad', 'payments.db'), 'this is no database, and long enough to be looked at'.repeat(100));
  writeFileSync(join(dir, 'file'), '');
  hole = await startBlackHole();
  pages = await serve('<!DOCTYPE html><html><body>Please sign in.</body></html>');
  locked = await serve({ error: 'wrong secret' }, 401);
  frontend = await serve({ payments: [] });
  otherChain = await serveChain(1);
});

afterAll(async () => {
  await Promise.all([hole, pages, locked, frontend, otherChain].map((server) => server.close()));
  rmSync(dir, { recursive: true });
});

/** Puts credentials and a key into a URL. */
function withSecrets(url: string): string {
  return `${url.replace('http://', 'http://ada-of-the-url:pass-of-the-url@')}/key-of-the-path`;
}

/** Runs the real program; gives its exit code and all that it printed. */
async function run(words: readonly string[], more: Readonly<Record<string, string>>) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const { FRONTEND_URL = frontend.url, RPC_URL = DEAD_URL, ...rest } = more;
  const env = {
    PATH,
    NODE_COMPILE_CACHE,
    DATA_DIR: join(dir, 'good'),
    RELAYER_SECRET: 'a-secret-of-the-test',
    CREDIT_TOKEN_ADDRESS: CREDIT_TOKEN,
    STABLECOIN_ADDRESS: CREDIT_TOKEN,
    EXCHANGE_ADDRESS: CREDIT_TOKEN,
    RPC_TIMEOUT_MS: '20000',
    FRONTEND_URL: withSecrets(FRONTEND_URL),
    RPC_URL: withSecrets(RPC_URL),
    ...rest,
  };
  const child = spawn(process.execPath, [program, ...words], { env });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  for (const secret of SECRETS) expect(out + err).not.toContain(secret);
  return { code, said: out + err };
}

test('a command says what it could not reach, which setting names that, and what to do; its exit code is not that of differences', async () => {
  const key = { RELAYER_PRIVATE_KEY: PRIVATE_KEY };
  const deploy = { PAYOUTS_DEPLOYER_PRIVATE_KEY: PRIVATE_KEY, RELAYER_ADDRESSES: CREDIT_TOKEN, FRONTEND_ID: 'shop' };
  const cases: readonly (readonly [readonly string[], Readonly<Record<string, string>>, number, RegExp])[] = [
    [
      ['reconcile'],
      { FRONTEND_URL: DEAD_URL },
      2,
      /frontend does not answer.*ECONNREFUSED.*FRONTEND_URL names it: see/,
    ],
    [
      ['reconcile'],
      { FRONTEND_URL: hole.url, RPC_TIMEOUT_MS: '200' },
      2,
      /frontend does not answer.*within 200 ms.*FRONTEND_URL names it/,
    ],
    [['reconcile'], { FRONTEND_URL: pages.url }, 2, /What answers is no frontend.*FRONTEND_URL names it: compare/],
    [['reconcile'], { FRONTEND_URL: locked.url }, 2, /frontend refuses.*status 401.*FRONTEND_URL.*RELAYER_SECRET/],
    [['reconcile'], {}, 2, /node does not answer.*ECONNREFUSED.*RPC_URL names it: see whether it is up/],
    [
      ['reconcile'],
      { RPC_URL: hole.url, RPC_TIMEOUT_MS: '3000' },
      2,
      /node does not answer.*within 3000 ms.*RPC_URL names it/,
    ],
    [['reconcile'], { RPC_URL: pages.url }, 2, /node does not answer as it should: the answer is not JSON.*RPC_URL/],
    [['reconcile'], { RPC_URL: otherChain.url }, 2, /node is of chain 1, and it should be of chain 31337.*RPC_URL/],
    [['reconcile', '--processor', join(dir, 'none.csv')], {}, 2, /--processor: .*none\.csv cannot be read \(ENOENT\)/],
    [
      ['reconcile', '--processor', join(dir, 'file')],
      {},
      2,
      /--processor: .*cannot be compared\. The export has no rows/,
    ],
    [['status'], {}, 0, /node: The node does not answer.*RPC_URL names it/],
    [['status'], { RPC_URL: otherChain.url }, 0, /node: The node is of chain 1, and it should be of chain 31337/],
    [
      ['list'],
      { DATA_DIR: join(dir, 'nowhere') },
      2,
      /There is no journal in .*nowhere yet; DATA_DIR names the folder/,
    ],
    [['list'], { DATA_DIR: join(dir, 'file') }, 2, /There is no journal in .*file yet; DATA_DIR names the folder/],
    [['list'], { DATA_DIR: join(dir, 'bad') }, 2, /bad.payments\.db cannot be used: file is not a database.*DATA_DIR/],
    [['deploy-payouts'], deploy, 2, /node does not answer.*RPC_URL names it/],
    [
      ['deploy-payouts'],
      { ...deploy, RPC_URL: otherChain.url, CHAIN_ID: '5' },
      2,
      /of chain 1, and it should be of chain 5/,
    ],
    [['reconcil'], {}, 2, /There is no command reconcil; see --help/],
    [[], { ...key, DATA_DIR: join(dir, 'bad') }, 1, /relayer stops.*cannot be used: file is not a database.*DATA_DIR/],
    [[], { ...key, DATA_DIR: join(dir, 'file') }, 1, /relayer stops.*cannot be used.*DATA_DIR/],
  ];
  for (const [words, more, code, said] of drawSome(cases, { of: 'what is not reached', small: 6 })) {
    const done = await run(words, more);
    expect({ words, ...done }).toEqual({ words, code, said: expect.stringMatching(said) });
  }
});
