/** `npx prism example:browser`: bundles the page and serves it on 127.0.0.1. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { type Address, isAddress, parseEther } from 'viem';
import { giveCredits, readDevnet } from '../node/devnet.ts';

const devnet = await readDevnet();
const gatewayUrl = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8787';

async function bundlePage(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'page.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  });
  // One entry point gives one file.
  return outputFiles[0]!.contents;
}

/** A stand-in for a card payment: credits for whoever asks. */
async function payCredits(request: IncomingMessage): Promise<string> {
  const { address } = JSON.parse(await text(request)) as { readonly address: Address };
  if (!isAddress(address)) throw new Error('expected an address');
  return JSON.stringify({ txHash: await giveCredits(devnet, address, parseEther('100000')) });
}

/** A stand-in for signing in: a token of the gateway's development issuer. */
async function issueToken(): Promise<string> {
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"sub":"ada"}' };
  const answer = await fetch(`${gatewayUrl}/dev/identity/token`, call);
  // The development issuer's answer.
  return ((await answer.json()) as { readonly access_token: string }).access_token;
}

const [page, script] = await Promise.all([readFile(join(import.meta.dirname, 'index.html')), bundlePage()]);
const answers: Readonly<
  Record<string, (request: IncomingMessage) => Promise<{ type: string; body: string | Uint8Array }>>
> = {
  'GET /': async () => ({ type: 'text/html; charset=utf-8', body: page }),
  'GET /page.js': async () => ({ type: 'text/javascript', body: script }),
  'GET /settings.json': async () => ({ type: 'application/json', body: JSON.stringify({ gatewayUrl, ...devnet }) }),
  'POST /token': async () => ({ type: 'text/plain', body: await issueToken() }),
  'POST /credits': async (request) => ({ type: 'application/json', body: await payCredits(request) }),
};

const server = createServer(async (request, response) => {
  const answer = answers[`${request.method} ${request.url}`];
  if (answer === undefined) return void response.writeHead(404).end();
  try {
    const { type, body } = await answer(request);
    response.setHeader('content-type', type).end(body);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
server.listen(Number(process.env.PORT ?? 8790), '127.0.0.1', () => {
  const address = server.address();
  // A TCP server has an address with a port.
  if (address !== null && typeof address === 'object') console.log(`Open http://127.0.0.1:${address.port}/`);
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    // A browser keeps its connections.
    server.closeAllConnections();
  });
}
