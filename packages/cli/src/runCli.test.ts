import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, startFetchServer, startGateway } from '@prism-gateway/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { runCli } from './runCli.ts';

const RELAYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/** Below a long wait's end, so that what comes has come of the move. */
const PATIENT = { timeout: 20_000 };
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

let gateway: RunningGateway;
/** Requests of the present test, which go with it. */
let posted: string[] = [];
beforeAll(async () => {
  gateway = await startGateway({ env: { RATE_LIMIT_WRITES: '600' } });
});
afterAll(() => gateway?.kill());
afterEach(async () => {
  const headers = { 'x-admin-key': gateway.adminKey };
  for (const id of posted) await fetch(`${gateway.url}/admin/requests/${id}`, { method: 'DELETE', headers });
  posted = [];
});

/** Watches, and tells each thing that is printed, until the caller ends it. */
function watch(line: string, url = gateway.url) {
  const ending = new AbortController();
  const printed: string[] = [];
  const surroundings = { args: line.split(' '), env: { PUBLIC_URL: url }, isTerminal: true };
  const print = (text: string) => printed.push(text);
  const ended = runCli({ ...surroundings, print, complain: print, signal: ending.signal });
  async function end() {
    ending.abort();
    return await ended;
  }
  return { printed, end, ended };
}

async function prism(line: string, env: Record<string, string> = { PUBLIC_URL: gateway.url }) {
  const printed: string[] = [];
  const complained: string[] = [];
  const status = await runCli({
    args: line.split(' '),
    env,
    print: (text) => printed.push(text),
    complain: (text) => complained.push(text),
    isTerminal: false,
    // Ended at once, so that a watch looks no second time.
    signal: AbortSignal.timeout(0),
  });
  return { status, out: printed.join('\n'), err: complained.join('\n') };
}

async function submit(chainName = 'eip155:1'): Promise<string> {
  const params = {
    ...{ cloudId: '0x01', dataId: '0x02', payload: '0x', relayerFee: '0', timestamp: '1767225600', signer: RELAYER },
    ...{ v: 27, r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}` },
  };
  const json = { chainName, action: 'WRITE_DATA_FOR', params };
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${gateway.url}/requests`, { method: 'POST', headers, body: JSON.stringify(json) });
  const { requestId } = (await answer.json()) as { requestId: string };
  posted.push(requestId);
  return requestId;
}

test('the whitelist is kept by commands', async () => {
  expect(await prism(`whitelist add ${RELAYER.toLowerCase()} --label eu-1`)).toMatchObject({
    status: 0,
    out: `${RELAYER} is on the whitelist.`,
  });
  expect((await prism('whitelist list')).out).toMatch(/ADDRESS .*[\s\S]*\n0x70997970.* eu-1/);
  expect(JSON.parse((await prism('whitelist list --json')).out)).toMatchObject({
    relayers: expect.arrayContaining([expect.objectContaining({ address: RELAYER, label: 'eu-1' })]),
  });
  expect(await prism(`whitelist remove ${RELAYER}`)).toMatchObject({ status: 0 });
});

test('requests are listed, shown and purged; the purge is confirmed', async () => {
  const requestId = await submit();
  expect((await prism('requests list --status pending --chain eip155:1')).out).toContain(requestId);
  const shown = await prism(`requests show ${requestId}`);
  expect(shown.err).toBe('');
  const story = shown.out;
  expect(story).toMatch(/params\.relayerFee +0/);
  expect(story).toMatch(/Z {2}Posted\nNow: It has waited for/);
  const status = (await prism('status')).out;
  expect(status).toMatch(/things need you:\n {2}No relayer is on the whitelist: add one|All is well/);
  expect(await prism(`requests release ${requestId}`)).toMatchObject({ status: 1, err: expect.stringMatching(/409/) });
  expect(await prism(`requests purge ${requestId}`)).toMatchObject({ status: 2, err: expect.stringMatching(/--yes/) });
  expect(await prism(`requests purge ${requestId} --yes ${requestId}`)).toMatchObject({ status: 0 });
  expect(await prism(`requests show ${requestId}`)).toMatchObject({ status: 1, err: expect.stringMatching(/404/) });
});

/** Claims as the development relayer. */
async function claim(requestId: string): Promise<void> {
  const path = `/requests/${requestId}`;
  const body = '{"status":"processing"}';
  const json = { 'content-type': 'application/json' };
  const post = async (to: string, sent: object, headers = {}) =>
    (
      await fetch(`${gateway.url}${to}`, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: JSON.stringify(sent),
      })
    ).json();
  const { headers } = (await post('/dev/relayer/sign', { method: 'PATCH', path, body })) as {
    headers: Record<string, string>;
  };
  await post('/admin/relayers', { address: headers['x-relayer-address'] }, { 'x-admin-key': gateway.adminKey });
  const { status } = await fetch(`${gateway.url}${path}`, { method: 'PATCH', headers: { ...json, ...headers }, body });
  expect(status).toBe(200);
}

test('the story of a request is reported again whenever it moves, until it has ended', async () => {
  const requestId = await submit();
  const [reported, left] = [
    watch(`requests show ${requestId} --watch`),
    watch(`requests show ${requestId} --watch --json`),
  ];
  const stories = () => reported.printed.filter((text) => text !== '');
  await expect.poll(() => stories().length, PATIENT).toBe(1);
  await expect.poll(() => left.printed.length, PATIENT).toBe(1);
  expect(stories()[0]).toContain(': pending,');
  expect(await left.end()).toBe(0);
  await claim(requestId);
  await expect.poll(() => stories().at(-1), PATIENT).toContain('Claimed by');
  expect(await prism(`requests fail ${requestId} --message gone`)).toMatchObject({ status: 0 });
  await expect.poll(() => stories().at(-1), PATIENT).toContain(': failed,');
  expect(stories().at(-1)).toContain('gone');
  // It ends by itself.
  expect(await reported.ended).toBe(0);
});

test('stats and the live view show the same, for people and for programs', async () => {
  await submit();
  expect((await prism('stats')).out).toMatch(/eip155:1 +1 +0/);
  expect(JSON.parse((await prism('stats --json')).out)).toMatchObject({ chains: [{ pending: 1 }] });
});

// Shows ADMIN-12.
test('limits tells what is in force, who is near to it, and budgets', async () => {
  await submit();
  const { status, out } = await prism('limits');
  expect(status).toBe(0);
  expect(out).toMatch(/^writes +600 +0 +0$/m);
  expect(out).toMatch(/^127\.0\.0\.1 +writes +\d+ +600 +\d+ %$/m);
  expect(out).toMatch(/^connections +\d+ +12000 +0 % +0$/m);
  expect(JSON.parse((await prism('limits --json')).out)).toMatchObject({ limits: { writes: 600 }, waiting: 0 });
});

// Shows ADMIN-4.
test('a transaction finds what it carried out', async () => {
  await submit();
  const none = await prism(`requests list --transaction 0x${'00'.repeat(32)}`);
  expect(none).toMatchObject({ status: 0, out: expect.not.stringContaining('eip155') });
  expect(await prism('requests list --transaction 0x12')).toMatchObject({
    status: 1,
    err: expect.stringMatching(/txHash/),
  });
});

// Shows WEBHOOK-1, WEBHOOK-8.
test('webhooks are registered with their secret told once, disabled, enabled, rotated and removed', async () => {
  const url = 'https://example.org/hooks';
  const added = await prism(`webhooks add ${url} --events request.failed,request.succeeded --chain eip155:1`);
  const [, id = '', secret = ''] = /^Webhook (\w+) is registered\.\n.*: (whsec_\S+)$/.exec(added.out) ?? [];
  expect((await prism('webhooks list')).out).toMatch(
    new RegExp(`${id} .*succeeded request.failed +eip155:1 .*0 +active`),
  );
  expect((await prism('webhooks list --json')).out).not.toContain(secret);
  expect(await prism(`webhooks disable ${id}`)).toMatchObject({ status: 0 });
  expect((await prism('webhooks list')).out).toMatch(/ disabled$/m);
  expect(await prism(`webhooks enable ${id}`)).toMatchObject({ out: `${id} is enabled.` });
  expect((await prism(`webhooks rotate ${id}`)).out).toMatch(/whsec_/);
  expect(JSON.parse((await prism(`webhooks deliveries ${id} --json`)).out)).toMatchObject({ count: 0 });
  expect((await prism(`webhooks deliveries ${id}`)).out).toMatch(/^DELIVERY/);
  expect(await prism(`webhooks resend ${id} 1`)).toMatchObject({ status: 1, err: expect.stringMatching(/404/) });
  expect(await prism(`webhooks resend ${id}`)).toMatchObject({ status: 2 });
  expect(await prism('webhooks add hooks')).toMatchObject({
    status: 1,
    err: expect.stringMatching(/events: expected/),
  });
  expect(await prism(`webhooks remove ${id}`)).toMatchObject({ status: 0 });
});

test('the live view draws anew as soon as the queue has moved, and ends at once', async () => {
  const live = watch('requests watch');
  const lines = watch('requests watch --json');
  await expect.poll(() => live.printed.length, PATIENT).toBe(1);
  await expect.poll(() => lines.printed.length, PATIENT).toBe(1);
  const requestId = await submit();
  await expect.poll(() => live.printed.at(-1), PATIENT).toContain(requestId);
  expect(live.printed.at(-1)).toContain('OLDEST PENDING');
  expect(live.printed.at(-1)?.startsWith('\u001b[2J')).toBe(true);
  await expect.poll(() => lines.printed.length, PATIENT).toBe(2);
  expect(JSON.parse(lines.printed[1] ?? '').version).not.toBe(JSON.parse(lines.printed[0] ?? '').version);
  expect(await Promise.all([live.end(), lines.end()])).toEqual([0, 0]);
});

/** A proxy before the gateway, as operators have one: it answers itself while the gateway is restarted. */
async function startProxy() {
  const state = { isDown: false };
  const { url, close } = await startFetchServer(async (request) => {
    const { pathname, search } = new URL(request.url);
    const options = { headers: { 'x-admin-key': gateway.adminKey }, signal: request.signal };
    if (!state.isDown) return await fetch(`${gateway.url}${pathname}${search}`, options);
    return Response.json({ error: 'The gateway does not answer.' }, { status: 502 });
  });
  return { url, state, [Symbol.asyncDispose]: close };
}

test('the live view waits for a gateway that is restarted; a program is reported by its end', async () => {
  await using proxy = await startProxy();
  const live = watch('requests watch', proxy.url);
  const lines = watch('requests watch --json', proxy.url);
  await expect.poll(() => live.printed.length, PATIENT).toBe(1);
  await expect.poll(() => lines.printed.length, PATIENT).toBe(1);
  proxy.state.isDown = true;
  // The call that is waiting ends by this move.
  await submit();
  await expect.poll(() => live.printed.at(-1), PATIENT).toMatch(/does not answer\. \(502\)\nTrying again/);
  await expect.poll(() => lines.printed.at(-1), PATIENT).toMatch(/^\{"error":/);
  expect(await lines.end()).toBe(1);
  proxy.state.isDown = false;
  const requestId = await submit();
  await expect.poll(() => live.printed.at(-1), PATIENT).toContain(requestId);
  expect(await live.end()).toBe(0);
});

test('the live view has room for everything, however many chains strangers name', async () => {
  for (let n = 0; n < 13; n++) await submit(`chain:${n}`);
  const live = watch('requests watch');
  await expect.poll(() => live.printed.length, PATIENT).toBeGreaterThan(0);
  const screen = live.printed[0] ?? '';
  await live.end();
  expect(screen.match(/^chain:\d+ +\d/gm)).toHaveLength(10);
  expect(screen).toMatch(/^and 3 more$/m);
  expect(screen.split('\n').length).toBeLessThan(40);
  expect((await prism('stats')).out.match(/^chain:\d+ +\d/gm)).toHaveLength(13);
});

test('whoever answers cannot act upon the terminal', async () => {
  const evil = '\u001b]0;owned\u0007\u009b2J\u202etxt';
  const body = { error: evil, details: [{ path: evil, message: evil }] };
  const { url, close } = await startFetchServer(async () => Response.json(body, { status: 400 }));
  try {
    const { status, err } = await prism('stats', { PUBLIC_URL: url });
    expect(status).toBe(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(err.split('\n')).toHaveLength(2);
  } finally {
    await close();
  }
});

test('what is wrong is reported in a sentence, with a status that scripts can use', async () => {
  expect(await prism(`requests fail ${UNKNOWN} --message gone`)).toMatchObject({ status: 1 });
  expect(await prism(`requests reopen ${UNKNOWN}`)).toMatchObject({
    status: 1,
    err: expect.stringMatching(/404|no request/i),
  });
  expect(await prism('whitelist add nobody')).toMatchObject({
    status: 1,
    err: expect.stringMatching(/address: expected/),
  });
  expect(await prism('whitelist add')).toMatchObject({ status: 2, err: expect.stringMatching(/one ADDRESS/) });
  expect(await prism('requests lst')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/no command requests lst: list/),
  });
  expect(await prism('stats --colour')).toMatchObject({ status: 2 });
  const closed = { PUBLIC_URL: 'http://127.0.0.1:9' };
  expect(await prism('stats', closed)).toMatchObject({ status: 1, err: expect.stringMatching(/No gateway answers/) });
  const wrongKey = { PUBLIC_URL: gateway.url, ADMIN_API_KEY: 'wrong' };
  expect(await prism('stats', wrongKey)).toMatchObject({ status: 1, err: expect.stringMatching(/401/) });
});

test('the key comes from a file, and no argument takes it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'prism-cli-'));
  try {
    const file = join(folder, 'key');
    writeFileSync(file, `${gateway.adminKey}\n`);
    const env = { PUBLIC_URL: gateway.url, ADMIN_API_KEY: 'wrong' };
    expect(await prism(`stats --key-file ${file}`, env)).toMatchObject({ status: 0 });
    expect(await prism(`stats --key-file ${file}x`, env)).toMatchObject({ status: 2 });
    expect(await prism('stats --key x', env)).toMatchObject({ status: 2 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('bash completes commands and options', async () => {
  const { out } = await prism('completion bash start devnet payments');
  const complete = (words: readonly string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const script = `${out}\nCOMP_WORDS=(prism ${list}); COMP_CWORD=${words.length}; _prism; echo "\${COMPREPLY[*]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ');
  };
  expect(complete(['req'])).toEqual(['requests']);
  expect(complete(['requests', 're'])).toEqual(['release', 'reopen']);
  expect(complete(['requests', 'fail', '--me'])).toEqual(['--message']);
  expect(complete(['dev'])).toEqual(['devnet']);
  expect(complete(['payments', 'rec'])).toEqual(['reconcile']);
});

test('with --json what is wrong is JSON too', async () => {
  const closed = { PUBLIC_URL: 'http://127.0.0.1:9' };
  for (const line of ['stats --json', 'requests lst --json', 'whitelist list more --json']) {
    const { err } = await prism(line, closed);
    expect(JSON.parse(err)).toEqual({ error: expect.any(String) });
  }
});

test('a name that cannot be found, and TLS that fails, are reported as such', async () => {
  const nowhere = await prism('stats', { PUBLIC_URL: 'https://gateway.invalid' });
  expect(nowhere).toMatchObject({ status: 1, err: expect.stringMatching(/gateway\.invalid cannot be found \(E/) });
  const plain = createServer((_, response) => response.end());
  await once(plain.listen(0, '127.0.0.1'), 'listening');
  const { port } = plain.address() as AddressInfo;
  const { status, err } = await prism('stats', { PUBLIC_URL: `https://127.0.0.1:${port}` });
  expect([status, err]).toEqual([1, expect.stringMatching(/^TLS with 127\.0\.0\.1 failed \(/)]);
  plain.close();
});
