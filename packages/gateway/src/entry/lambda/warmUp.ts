import type { Rehearsal } from './createRehearsal.ts';
import type { FunctionSettings } from './functionSettings.ts';

/** How long an instance gets ready at most, in milliseconds: with dark tables it begins all the same, looks on, and answers 503 meanwhile. */
const LIMIT_MS = 1200;
/** Time limit of a warm-up call, in milliseconds: the drivers give up much earlier. */
const CALL_LIMIT_MS = 29_000;
/** The first compiles, the others let the engine settle what it has compiled. */
const ROUNDS = 6;
/** Nobody's address and signer. */
const NOBODY = `0x${'00'.repeat(20)}`;
const ABSENT_ID = '00000000-0000-7000-8000-000000000000';
/** A signature that can be recovered and is nobody's: its point is the curve's generator. @see https://www.secg.org/sec2-v2.pdf */
const SIGNATURE = `0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798${'01'.padStart(64, '0')}1b`;
const BYTES_32 = `0x${'00'.repeat(32)}`;

/** The function's handler, as far as a rehearsal goes. */
type Handler = (
  event: unknown,
  context: { awsRequestId: string; getRemainingTimeInMillis(): number },
) => Promise<unknown>;

interface WarmUpContext {
  readonly handler: Handler;
  readonly rehearsal: Rehearsal;
  /** Looks at the tables, as far as they answer. @throws if this function must not use them */
  readonly prepare: () => Promise<void>;
  readonly settings: Pick<FunctionSettings, 'chains' | 'originSecrets'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Rehearsed {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Of each kind of call, one: created (which stores nothing in a rehearsal), read, listed, and claimed by a stranger. */
function rehearsedCalls({ now, settings }: WarmUpContext): readonly Rehearsed[] {
  const zero = '0';
  const chainName = settings.chains[0] ?? 'warm-up';
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

/** An event of an HTTP API for a call, as from an edge. */
function writeEvent({ method, path, headers = {}, body }: Rehearsed, { settings }: WarmUpContext) {
  const [rawPath, rawQueryString = ''] = path.split('?');
  const [secret] = settings.originSecrets;
  return {
    version: '2.0',
    rawPath,
    rawQueryString,
    headers: {
      host: 'function',
      'content-type': 'application/json',
      ...(secret && { 'x-origin-secret': secret }),
      ...headers,
    },
    requestContext: { domainName: 'function', stage: '$default', http: { method, sourceIp: '127.0.0.1' } },
    body: body === undefined ? '' : JSON.stringify(body),
    isBase64Encoded: false,
  };
}

/**
 * Has an instance do once, before its first call, what that call would otherwise be the first to do: open connections and the log,
 * compile schemas, routes, drivers and wasm. Lambda gives more of the processor to an instance that gets ready than to one that answers.
 *
 * @throws TableLayoutError
 */
export async function warmUp(context: WarmUpContext): Promise<void> {
  const { handler, rehearsal, prepare } = context;
  const limit = Promise.withResolvers<void>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    limit.resolve();
  }, LIMIT_MS);
  const functionContext = { awsRequestId: 'init', getRemainingTimeInMillis: () => CALL_LIMIT_MS };
  // A failure here comes again at a call, which says so.
  const play = async () => {
    await prepare();
    for (let round = 0; round < ROUNDS && !isOver; round++) {
      const events = rehearsedCalls(context).map((call) => writeEvent(call, context));
      await Promise.allSettled(events.map((event) => handler(event, functionContext)));
    }
  };
  const playing = rehearsal.run(play);
  // Past the limit each call finds out for itself.
  playing.catch(() => undefined);
  await Promise.race([playing, limit.promise]);
  clearTimeout(timer);
}
