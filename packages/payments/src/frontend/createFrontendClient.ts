import type { Hash } from 'viem';

/** The faults of a call to the frontend. */
type FrontendErrorCode = 'FRONTEND_UNAVAILABLE' | 'FRONTEND_REFUSED' | 'FRONTEND_NONSENSE';

/** A call to the frontend without a usable answer; of a claim or a completion it is not known whether it was done. */
export class FrontendError extends Error {
  override readonly name = 'FrontendError';
  readonly code: FrontendErrorCode;

  /**
   * @param code - `FRONTEND_UNAVAILABLE`: no answer, or 5xx; `FRONTEND_REFUSED`: 401 and other 4xx; `FRONTEND_NONSENSE`: not what was agreed
   * @param facts - which call, and what was seen
   */
  constructor(
    code: FrontendErrorCode,
    facts: { readonly call: string; readonly seen: string; readonly cause?: unknown },
  ) {
    super(`${facts.call}: ${facts.seen}.`, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
  }
}

/** The answer to a claim. */
export interface ClaimAnswer {
  /** Whether this instance now holds the payment, another does, or the frontend does not know it. */
  readonly answer: 'claimed' | 'taken' | 'unknown';
  /** The frontend's name of the claim, if it gives one: by it the claim can be renewed and given up. */
  readonly claimId?: string;
}

/** A claim that has a name. */
interface Claim {
  readonly paymentIntentId: string;
  readonly claimId: string;
}

/** The frontend's endpoints: three, and one that it may do without. */
export interface FrontendClient {
  /** @returns the listed payments, not looked at. @throws FrontendError */
  listPending(signal?: AbortSignal): Promise<readonly unknown[]>;
  /** @throws FrontendError */
  claim(paymentIntentId: string, signal?: AbortSignal): Promise<ClaimAnswer>;
  /**
   * Begins the lease of a claim anew.
   *
   * @returns whether it holds, another instance has claimed the payment since, or the frontend takes no claim again
   * @throws FrontendError
   */
  renew(claim: Claim, signal?: AbortSignal): Promise<'renewed' | 'taken' | 'unsupported'>;
  /**
   * Gives a claim up, so that any instance may claim the payment at once.
   *
   * @returns whether it is free now, was not held any more, or the frontend has no such endpoint
   * @throws FrontendError
   */
  release(claim: Claim, signal?: AbortSignal): Promise<'released' | 'not held' | 'unsupported'>;
  /** @returns whether the frontend took it; `conflict`: it has another transaction for this payment. @throws FrontendError */
  complete(
    completion: { readonly paymentIntentId: string; readonly txHash: Hash },
    signal?: AbortSignal,
  ): Promise<'completed' | 'conflict'>;
}

/** Where the frontend is. */
export interface FrontendOptions {
  /** Base URL, with or without a slash at its end. */
  readonly url: string;
  /** Sent as `x-relayer-secret`. */
  readonly secret: string;
  readonly timeoutMs: number;
}

/** Longest answer that is read: some 50,000 payments. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Longest name of a claim that is kept. */
const MAX_CLAIM_ID_LENGTH = 200;

/** A page for people, such as one that asks to sign in: whatever its status, nothing was claimed or completed. */
const HTML = /^\s*<(!doctype|html)\b/i;

/** `fetch` refuses credentials in a URL, and says so with the URL. */
function splitCredentials(text: string): { base: string; credentials: Readonly<Record<string, string>> } {
  const url = new URL(text);
  const { username, password } = url;
  if (username === '' && password === '') return { base: text.replace(/\/+$/, ''), credentials: {} };
  url.username = '';
  url.password = '';
  const given = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return {
    base: url.href.replace(/\/+$/, ''),
    credentials: { authorization: `Basic ${given.toString('base64')}` },
  };
}

/** Why there is no answer, in a word of the system's: `fetch` says it in the cause of its error. */
function describeSilence(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? `no answer (${code})` : 'no answer';
}

async function readBounded(response: Response, call: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new FrontendError('FRONTEND_NONSENSE', { call, seen: 'the answer is too long' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsePayments(text: string, call: string): readonly unknown[] {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'payments' in body && Array.isArray(body.payments))
      return body.payments;
  } catch {
    // Said below.
  }
  throw new FrontendError('FRONTEND_NONSENSE', { call, seen: 'expected { "payments": [ … ] }' });
}

/** The name of a claim, of a frontend that gives one. */
function readClaimId(text: string): { readonly claimId?: string } {
  try {
    const body: unknown = JSON.parse(text);
    const claimId = typeof body === 'object' && body !== null && 'claimId' in body ? body.claimId : undefined;
    return typeof claimId === 'string' && claimId.length <= MAX_CLAIM_ID_LENGTH ? { claimId } : {};
  } catch {
    return {};
  }
}

/**
 * Creates a client of the frontend.
 *
 * @see docs/specification.md FRONT-1, FRONT-2, FRONT-3
 */
export function createFrontendClient(options: FrontendOptions): FrontendClient {
  const { base, credentials } = splitCredentials(options.url);

  async function request(path: string, init: { body?: unknown; signal?: AbortSignal | undefined }) {
    const call = `${init.body === undefined ? 'GET' : 'POST'} ${path}`;
    const timeout = AbortSignal.timeout(options.timeoutMs);
    try {
      const response = await fetch(`${base}${path}`, {
        method: init.body === undefined ? 'GET' : 'POST',
        headers: {
          'x-relayer-secret': options.secret,
          'content-type': 'application/json',
          accept: 'application/json',
          ...credentials,
        },
        ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
        // The secret goes nowhere else.
        redirect: 'error',
        signal: init.signal === undefined ? timeout : AbortSignal.any([init.signal, timeout]),
      });
      const text = await readBounded(response, call);
      if (response.status === 200 && HTML.test(text))
        throw new FrontendError('FRONTEND_NONSENSE', { call, seen: 'the answer is a page for people' });
      return { call, status: response.status, text };
    } catch (error) {
      if (error instanceof FrontendError) throw error;
      const seen = timeout.aborted ? `no answer within ${options.timeoutMs} ms` : describeSilence(error);
      throw new FrontendError('FRONTEND_UNAVAILABLE', { call, seen });
    }
  }

  function refuse({ call, status }: { call: string; status: number }): never {
    const isDown = status >= 500 || status === 429 || status === 408;
    throw new FrontendError(isDown ? 'FRONTEND_UNAVAILABLE' : 'FRONTEND_REFUSED', { call, seen: `status ${status}` });
  }

  return {
    async listPending(signal) {
      const answer = await request('/api/relayer/pending', { signal });
      return answer.status === 200 ? parsePayments(answer.text, answer.call) : refuse(answer);
    },
    async claim(paymentIntentId, signal) {
      const answer = await request('/api/relayer/claim', { body: { paymentIntentId }, signal });
      if (answer.status === 200) return { answer: 'claimed', ...readClaimId(answer.text) };
      if (answer.status === 409) return { answer: 'taken' };
      return answer.status === 404 ? { answer: 'unknown' } : refuse(answer);
    },
    async renew({ paymentIntentId, claimId }, signal) {
      const answer = await request('/api/relayer/claim', { body: { paymentIntentId, claimId }, signal });
      if (answer.status === 200) return 'renewed';
      if ([404, 409].includes(answer.status)) return 'taken';
      return [400, 405, 422, 501].includes(answer.status) ? 'unsupported' : refuse(answer);
    },
    async release({ paymentIntentId, claimId }, signal) {
      const answer = await request('/api/relayer/release', { body: { paymentIntentId, claimId }, signal });
      if (answer.status === 200) return 'released';
      if (answer.status === 409) return 'not held';
      return [404, 405, 501].includes(answer.status) ? 'unsupported' : refuse(answer);
    },
    async complete({ paymentIntentId, txHash }, signal) {
      const answer = await request('/api/relayer/complete', { body: { paymentIntentId, txHash }, signal });
      if (answer.status === 200) return 'completed';
      return answer.status === 409 ? 'conflict' : refuse(answer);
    },
  };
}
