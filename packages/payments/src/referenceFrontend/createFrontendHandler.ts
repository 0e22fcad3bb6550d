import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import type { FrontendPayment, FrontendStore } from './openFrontendStore.ts';

/** Longest body that is read. */
const MAX_BODY_BYTES = 16_384;
/** Payments of one answer: the oldest. */
const MAX_LISTED = 1000;
/** Longest name of a payment intent. */
const MAX_ID_LENGTH = 200;

const paymentIntentId = z.string().check(z.minLength(1), z.maxLength(MAX_ID_LENGTH));
const releaseBody = z.strictObject({ paymentIntentId, claimId: z.string().check(z.maxLength(MAX_ID_LENGTH)) });
const claimBody = z.strictObject({ paymentIntentId });
const completeBody = z.strictObject({ paymentIntentId, txHash: z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/)) });

const OUTCOME_STATUS = {
  claimed: 200,
  completed: 200,
  released: 200,
  taken: 409,
  conflict: 409,
  'not held': 409,
  unknown: 404,
} as const;

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // No encoding is set, so that chunks are buffers.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(bytes);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: status < 400 ? 'keep-alive' : 'close' });
  response.end(JSON.stringify(body));
}

/**
 * Creates the listener of the reference frontend: the relayer's endpoints, and `/`, the page.
 *
 * @param options - store, secret and clock
 * @returns the listener
 * @see docs/specification.md FRONT-1
 */
export function createFrontendHandler(options: {
  readonly store: FrontendStore;
  readonly secret: string;
  readonly now: () => number;
}): RequestListener {
  const { store, secret, now } = options;

  const routes: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>> = {
    'GET /api/relayer/pending': async (_, response) => {
      const payments = store.listPending(MAX_LISTED).map(({ paymentIntentId, walletAddress, stablecoinAmount }) => ({
        paymentIntentId,
        walletAddress,
        stablecoinAmount,
      }));
      sendJson(response, 200, { payments });
    },
    'POST /api/relayer/claim': async (request, response) => {
      const body = claimBody.safeParse(await readJson(request));
      if (!body.success) return sendJson(response, 400, { error: 'Expected { paymentIntentId }.' });
      const claim = store.claim(body.data.paymentIntentId);
      const { outcome } = claim;
      const answer =
        outcome === 'claimed' ? { status: outcome, claimId: claim.claimId } : { error: `The payment is ${outcome}.` };
      sendJson(response, OUTCOME_STATUS[outcome], answer);
    },
    'POST /api/relayer/release': async (request, response) => {
      const body = releaseBody.safeParse(await readJson(request));
      if (!body.success) return sendJson(response, 400, { error: 'Expected { paymentIntentId, claimId }.' });
      const outcome = store.release(body.data.paymentIntentId, body.data.claimId);
      const answer = outcome === 'released' ? { status: outcome } : { error: `The payment is ${outcome}.` };
      sendJson(response, OUTCOME_STATUS[outcome], answer);
    },
    'POST /api/relayer/complete': async (request, response) => {
      const body = completeBody.safeParse(await readJson(request));
      if (!body.success) return sendJson(response, 400, { error: 'Expected { paymentIntentId, txHash }.' });
      const outcome = store.complete(body.data.paymentIntentId, body.data.txHash);
      sendJson(
        response,
        OUTCOME_STATUS[outcome],
        outcome === 'completed' ? { status: outcome } : { error: `The payment is ${outcome}.` },
      );
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://frontend');
    if (request.method === 'GET' && pathname === '/') {
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      });
      return void response.end(writePaymentsPage(store.list(), now()));
    }
    const route = routes[`${request.method} ${pathname}`];
    if (route === undefined) return sendJson(response, 404, { error: 'There is nothing here.' });
    const given = request.headers['x-relayer-secret'];
    if (typeof given !== 'string' || !isSame(given, secret))
      return sendJson(response, 401, { error: 'The secret is wrong.' });
    await route(request, response);
  }

  return (request, response) => {
    answer(request, response).catch(() => response.destroy());
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function describeState(payment: FrontendPayment, nowMs: number): string {
  if (payment.txHash !== undefined) return 'completed';
  return payment.leaseUntilMs > nowMs ? 'claimed' : 'pending';
}

/**
 * Writes the page that lists payments.
 *
 * @param payments - all of them
 * @param nowMs - milliseconds since the epoch
 * @returns HTML, every value escaped
 */
function writePaymentsPage(payments: readonly FrontendPayment[], nowMs: number): string {
  const rows = payments.map((payment) => {
    const cells = [
      payment.paymentIntentId,
      payment.walletAddress,
      payment.stablecoinAmount,
      describeState(payment, nowMs),
      `${payment.claims}`,
      payment.txHash ?? '',
    ];
    return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  const heads = ['Payment intent', 'Wallet', 'Stablecoin units', 'State', 'Claims', 'Transaction'];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Payments</title>
<style>body{font:14px system-ui;margin:2em}table{border-collapse:collapse}td,th{padding:.3em .8em;border-bottom:1px solid #ccc;text-align:left}</style>
<h1>Payments</h1><table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>
${rows.join('\n')}
</table></html>`;
}
