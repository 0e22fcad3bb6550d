import { readFile } from 'node:fs/promises';
import { DEPLOYED_LIMITS } from '@prism-gateway/gateway/deployment';
import { createBody, createParams } from '../load/createParams.ts';
import { formatTable } from '../report/formatTable.ts';
import { startMetered, type UnitMeter } from './startUnitMeter.ts';
import { type CallCost, findWorstDay, type WorstLine } from './worstDay.ts';

/** Below this a day is a nuisance and no damage, in US dollars. */
const MOST_USD = 5;
const CHAIN = 'bench:worst-day';
const KILOBYTE = 1024;
/** The largest body that is taken is 256 kB; params of random bytes compress least. */
const LARGE_BYTES = 200 * KILOBYTE;
/** Records of one signer: a page holds a hundred. */
const RECORDS = 100;

interface Caller {
  readonly url: string;
  readonly meter: UnitMeter;
}

/** Makes a call. @returns what it cost */
async function costOf(
  { url, meter }: Caller,
  what: string,
  target: string,
  body?: string,
): Promise<CallCost & { readonly answer: string }> {
  meter.take();
  const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const response = await fetch(`${url}${target}`, init);
  const answer = await response.text();
  if (!response.ok) throw new Error(`${what}: ${response.status} ${answer.slice(0, 200)}`);
  const units = [...meter.take().values()];
  return {
    what,
    writeUnits: units.reduce((sum, { writes }) => sum + writes, 0),
    readUnits: units.reduce((sum, { reads }) => sum + reads, 0),
    bodyBytes: body?.length ?? 0,
    answerBytes: answer.length,
    answer,
  };
}

async function measureCalls(caller: Caller): Promise<CallCost[]> {
  const { signer } = createParams(500);
  const bodyOf = (bytes: number) =>
    JSON.stringify(createBody({ chainName: CHAIN, params: createParams(bytes, signer) }));
  // The first call of a minute also reads the counters of the minute before: none that is measured does.
  for (let i = 0; i < RECORDS; i++) await costOf(caller, 'before', '/requests', bodyOf(KILOBYTE));
  await costOf(caller, 'before', `/requests?signer=${signer}&limit=1`);
  const small = await costOf(caller, 'POST of 1 kB', '/requests', bodyOf(KILOBYTE));
  const { requestId } = JSON.parse(small.answer);
  return [
    small,
    await costOf(caller, 'page of 100, by signer', `/requests?signer=${signer}&limit=100`),
    await costOf(caller, 'GET of one', `/requests/${requestId}`),
    await costOf(caller, 'POST of 200 kB', '/requests', bodyOf(LARGE_BYTES)),
  ];
}

/**
 * Measures what each public call costs, and prints the dearest day that one address can cause within the limits of a deployment.
 *
 * @param options - `isCheck`: whether `docs/operations-aws.md` is compared
 * @returns whether it is below five dollars, and the document says the same
 * @throws DynamoEngineMissingError if no engine can run
 */
export async function runWorstDay({ isCheck }: { readonly isCheck: boolean }): Promise<boolean> {
  const stack = new AsyncDisposableStack();
  try {
    const { engine, meter, start } = await startMetered(stack);
    const { url } = await start({ RATE_LIMIT_WRITE_BYTES: '1000000000' });
    const lines = findWorstDay(await measureCalls({ url, meter }), DEPLOYED_LIMITS);
    return printDay(lines, engine) && (!isCheck || (await checkDay(lines)));
  } finally {
    await stack.disposeAsync();
  }
}

const sumOf = (lines: readonly WorstLine[]) => lines.reduce((total, { usd }) => total + usd, 0);

/** The document's figure for it. */
const STATED = /worst day that one address can cause\** is ([\d.]+) USD/;
/** How far it may be off: a call that is the first of its minute reads a counter more, and random bytes compress differently. */
const TOLERANCE = 0.05;

/** Compares the document with what was measured. @returns whether it says the same */
async function checkDay(lines: readonly WorstLine[]): Promise<boolean> {
  const text = await readFile(new URL('../../../docs/operations-aws.md', import.meta.url), 'utf8');
  const stated = Number(STATED.exec(text.replaceAll(/\s+/g, ' '))?.[1]);
  const isSame = Math.abs(stated / sumOf(lines) - 1) <= TOLERANCE;
  console.log('');
  console.log(`docs/operations-aws.md says ${isSame ? 'the same' : `${stated}: STALE`}.`);
  return isSame;
}

/** @returns whether it is below five dollars */
function printDay(lines: readonly WorstLine[], engine: string): boolean {
  const sum = sumOf(lines);
  const rows = lines.map(({ what, calls, usd }) => [what, String(calls), usd.toFixed(2)]);
  console.log(
    [
      `The worst day that one address can cause, within ${DEPLOYED_LIMITS.callsInFiveMinutes} calls in five minutes (firewall) and ${DEPLOYED_LIMITS.writeBytesAMinute} bytes of`,
      `bodies a minute (gateway): units as ${engine} counts them, list prices of us-east-1, CloudFront, firewall, function, logs`,
      'and data out included, no free tier. What the firewall stops beyond that is 0.60 USD a million, and bounded by nothing but the budget.',
      '',
      ...formatTable([['call', 'a day', 'USD'], ...rows, ['sum', '', sum.toFixed(2)]]),
      '',
      `${sum.toFixed(2)} USD; less than ${MOST_USD.toFixed(2)} is wanted: ${sum < MOST_USD ? 'kept' : 'MISSED'}`,
    ].join('\n'),
  );
  return sum < MOST_USD;
}
