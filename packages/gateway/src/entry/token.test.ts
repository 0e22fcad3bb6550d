import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type LoopbackServer, listenOnLoopback } from '@prism-gateway/testing';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDevIssuer } from '../drivers/devIssuer/createDevIssuer.ts';
import { runTokenCommand } from './token.ts';

const app = { appId: 'dev', appSecret: 'not-a-secret' };
let directory: string;
let gateway: LoopbackServer;
/** Like a gateway in prod: every route of the issuer is unknown. */
let prod: LoopbackServer;

async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const body = await buffer(incoming);
  const headers = { 'content-type': incoming.headers['content-type'] ?? '' };
  return new Request(`${gateway.url}${incoming.url}`, { method: incoming.method ?? 'GET', headers, body });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'token-command-'));
  gateway = await listenOnLoopback(
    createServer(async (incoming, outgoing) => {
      const devIssuer = createDevIssuer({ issuer: `${gateway.url}/dev/identity`, ...app, directory, now: Date.now });
      const answer = await devIssuer.fetch(await toRequest(incoming));
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    }),
  );
  prod = await listenOnLoopback(
    createServer((_, outgoing) => outgoing.writeHead(404).end('{"error":"There is no such route."}')),
  );
});
afterAll(async () => {
  await Promise.all([gateway.close(), prod.close()]);
  await rm(directory, { recursive: true });
});

async function run(args: readonly string[], env: Readonly<Record<string, string>> = { PUBLIC_URL: gateway.url }) {
  const [out, err]: [string[], string[]] = [[], []];
  const print = (line: string) => out.push(line);
  const exitCode = await runTokenCommand({ args, env, fetch, print, hint: (line) => err.push(line) });
  return { exitCode, out: out.join('\n'), err: err.join('\n') };
}

test('prints the whole answer for programs', async () => {
  const { out } = await run(['alice', '--json']);
  const { access_token, expires_in } = JSON.parse(out);
  expect([decodeJwt(access_token).sub, expires_in]).toEqual(['alice', 3600]);
});

test('prints the token and nothing else', async () => {
  const { exitCode, out, err } = await run(['alice']);
  expect(exitCode).toBe(0);
  const { sub, iss, exp = 0, iat = 0 } = decodeJwt(out);
  expect([sub, iss, exp - iat]).toEqual(['alice', `${gateway.url}/dev/identity`, 3600]);
  expect(err).toContain('"alice"');
  expect(err).not.toContain(out);
});

test('--expires-in and --url', async () => {
  const { out } = await run(['--expires-in', '60', 'bob', '--url', `${gateway.url}/`], { PUBLIC_URL: prod.url });
  const { sub, exp = 0, iat = 0 } = decodeJwt(out);
  expect([sub, exp - iat]).toEqual(['bob', 60]);
});

test('HOST and PORT say where, as the gateway reads them', async () => {
  const { port } = new URL(gateway.url);
  for (const HOST of ['127.0.0.1', '0.0.0.0', '']) {
    expect(await run(['alice'], { HOST, PORT: port, PUBLIC_URL: '' }), HOST).toMatchObject({ exitCode: 0 });
  }
});

test('--revoke ends a token', async () => {
  const { out: token } = await run(['alice']);
  expect(await run(['--revoke', token])).toMatchObject({ exitCode: 0, out: '' });
  const authorization = `Basic ${Buffer.from('dev:not-a-secret').toString('base64')}`;
  const devIssuer = createDevIssuer({ issuer: `${gateway.url}/dev/identity`, ...app, directory, now: Date.now });
  const init = { method: 'POST', headers: { authorization }, body: new URLSearchParams({ token }) };
  const answer = await devIssuer.fetch(new Request(`${gateway.url}/dev/identity/introspect`, init));
  expect(await answer.json()).toEqual({ active: false });
});

test('--help', async () => {
  const { exitCode, out } = await run(['--help']);
  expect([exitCode, out]).toEqual([0, expect.stringContaining('npx prism token --revoke TOKEN')]);
});

test.each([
  [[], /Give one user id/],
  [['a', 'b'], /Give one user id/],
  [['a', '--revoke', 'x'], /Give one user id/],
  [['a', '--expires-in', '0'], /whole seconds/],
  [['a', '--expires-in', '1h'], /whole seconds/],
  [['a', '--expires-in', '86401'], /whole seconds/],
  [['a', '--url', 'nowhere'], /not a URL/],
  [['a', '--nope'], /--nope.*--help/],
])('%j: one sentence, exit code 2', async (args, sentence) => {
  expect(await run(args)).toEqual({ exitCode: 2, out: '', err: expect.stringMatching(sentence) });
});

test('no gateway, or one without the issuer', async () => {
  const gone = await listenOnLoopback(createServer());
  await gone.close();
  expect((await run(['a'], { PUBLIC_URL: gone.url })).err).toBe(
    `No gateway answers at ${gone.url}: start it with "npx prism start", or give its --url.`,
  );
  expect((await run(['a'], { PUBLIC_URL: prod.url })).err).toMatch(/has no development issuer: .*STAGE=prod/);
  expect((await run(['--revoke', 'x'], { PUBLIC_URL: prod.url })).exitCode).toBe(1);
});

test('as a program: the token alone on stdout', async () => {
  const script = fileURLToPath(new URL('./token.ts', import.meta.url));
  const env = { PATH: process.env.PATH, PUBLIC_URL: gateway.url };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, 'alice'], { env });
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(stderr).toContain('Authorization: Bearer');
  const failed = await promisify(execFile)(process.execPath, [script, '--nope'], { env }).catch((error) => error);
  expect([failed.code, failed.stdout]).toEqual([2, '']);
});
