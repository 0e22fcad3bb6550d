import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import type { FrontendStore } from './openFrontendStore.ts';

/** Longest body that is read. */
const MAX_BODY_BYTES = 16_384;
/** Payments of one answer: the oldest. */
const MAX_LISTED = 1000;
/** Longest name of a payment intent. */
const MAX_ID_LENGTH = 200;

const paymentIntentId = z.string().check(z.minLength(1), z.maxLength(MAX_ID_LENGTH));
const claimId = z.string().check(z.maxLength(MAX_ID_LENGTH));
const releaseBody = z.strictObject({ paymentIntentId, claimId });
const claimBody = z.strictObject({ paymentIntentId, claimId: z.optional(claimId) });
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

type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A route that moves a payment. @param expected - the fields of the body, for the refusal of another one */
function moveBy<Body>(
  body: z.ZodMiniType<Body>,
  expected: string,
  move: (body: Body) => { readonly outcome: keyof typeof OUTCOME_STATUS },
): Route {
  return async (request, response) => {
    const parsed = body.safeParse(await readJson(request));
    if (!parsed.success) return sendJson(response, 400, { error: `Expected { ${expected} }.` });
    const { outcome, ...more } = move(parsed.data);
    const status = OUTCOME_STATUS[outcome];
    sendJson(response, status, status === 200 ? { status: outcome, ...more } : { error: `The payment is ${outcome}.` });
  };
}

/**
 * Creates the listener of the reference frontend: the payer's endpoints.
 *
 * @see docs/specification.md FRONT-1
 */
export function createFrontendHandler(options: {
  readonly store: FrontendStore;
  readonly secret: string;
}): RequestListener {
  const { store, secret } = options;

  const routes: Readonly<Record<string, Route>> = {
    'GET /api/relayer/pending': async (_, response) => {
      const payments = store.listPending(MAX_LISTED).map(({ paymentIntentId, walletAddress, stablecoinAmount }) => ({
        paymentIntentId,
        walletAddress,
        stablecoinAmount,
      }));
      sendJson(response, 200, { payments });
    },
    'POST /api/relayer/claim': moveBy(claimBody, 'paymentIntentId', (body) =>
      store.claim(body.paymentIntentId, body.claimId),
    ),
    'POST /api/relayer/release': moveBy(releaseBody, 'paymentIntentId, claimId', (body) => ({
      outcome: store.release(body.paymentIntentId, body.claimId),
    })),
    'POST /api/relayer/complete': moveBy(completeBody, 'paymentIntentId, txHash', (body) => ({
      outcome: store.complete(body.paymentIntentId, body.txHash),
    })),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://frontend');
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
