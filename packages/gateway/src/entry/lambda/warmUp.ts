import type { Gateway } from '../../app.ts';
import { createRequest } from './lightFetch.ts';

/** How long an instance rehearses at most, in milliseconds: with dark tables it begins all the same, and answers 503. */
const LIMIT_MS = 1500;
/** The first compiles, the others let the engine settle what it has compiled. */
const ROUNDS = 6;
/** Nobody's address and signer. */
const NOBODY = `0x${'00'.repeat(20)}`;
const ABSENT_ID = '00000000-0000-7000-8000-000000000000';
/** A signature that can be recovered and is nobody's: its point is the curve's generator. @see https://www.secg.org/sec2-v2.pdf */
const SIGNATURE = `0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798${'01'.padStart(64, '0')}1b`;
const BYTES_32 = `0x${'00'.repeat(32)}`;

interface WarmUpOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A chain that requests are taken for. */
  readonly chainName: string;
}

interface Rehearsed {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Of each kind of call, one: created (which stores nothing in a rehearsal), read, listed, and claimed by a stranger. */
function rehearsedCalls({ now, chainName }: WarmUpOptions): readonly Rehearsed[] {
  const zero = '0';
  const params = {
    ...{ signer: NOBODY, cloudId: BYTES_32, dataId: BYTES_32, payload: '0x00', relayerFee: zero, timestamp: zero },
    ...{ v: 27, r: BYTES_32, s: BYTES_32 },
  };
  const relayer = {
    'x-relayer-address': NOBODY,
    'x-relayer-timestamp': String(now()),
    'x-relayer-signature': SIGNATURE,
  };
  return [
    { method: 'POST', path: '/requests', body: { chainName, action: 'WRITE_DATA_FOR', params } },
    { method: 'GET', path: `/requests/${ABSENT_ID}` },
    { method: 'GET', path: `/requests?signer=${NOBODY}` },
    { method: 'PATCH', path: `/requests/${ABSENT_ID}`, headers: relayer, body: { status: 'processing' } },
  ];
}

async function rehearse(gateway: Gateway, { method, path, headers = {}, body }: Rehearsed): Promise<void> {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const fields = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
  const request = createRequest({ method, url: `http://function${path}`, headers: fields });
  await (await gateway.fetch(request, { peerAddress: '127.0.0.1', arrivedBody: () => bytes })).text();
}

/**
 * Has an instance do once, before its first call, what that call would otherwise be the first to do: open connections, compile
 * schemas, drivers and wasm. Lambda gives more of the processor to an instance that gets ready than to one that answers.
 *
 * @param gateway - a twin of the one that answers, which neither logs, nor counts, nor stores
 */
export async function warmUp(gateway: Gateway, options: WarmUpOptions): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(limit.resolve, LIMIT_MS);
  // What fails here fails again at a call, which says so.
  const play = async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.allSettled(rehearsedCalls(options).map((call) => rehearse(gateway, call)));
    }
  };
  await Promise.race([play(), limit.promise]);
  clearTimeout(timer);
}
