import type { RunningGateway } from '@prism-gateway/testing';
import { createBody, createParams } from '../load/createParams.ts';
import { type BenchRelayer, loadRelayers } from '../load/loadRelayers.ts';
import type { Call } from '../load/runLoad.ts';
import { readCall, readRequestId } from '../measures/createRequests.ts';
import { updateCall } from '../measures/measureClaim.ts';
import { signCall } from '../measures/measureSign.ts';
import type { Options } from '../options.ts';
import { fetchTokens, whitelist } from '../processes/startGateway.ts';
import { formatTable } from '../report/formatTable.ts';
import { measureLives } from './measureLives.ts';
import { startMetered, type Units } from './startUnitMeter.ts';

/** Bytes of params as JSON: 1, 16 and 200 kB. */
const KILOBYTE = 1024;
const SIZES = [KILOBYTE, 16 * KILOBYTE, 200 * KILOBYTE];
/** Requests of a signer and of a chain, of which a page shows some. */
const RECORDS = 120;
const TABLES = ['service-requests-dev', 'service-relayers-dev'] as const;

/** Limits reach the table ten calls at once: what they cost shows in whole lives alone. */
const LIMITED = ['WRITES', 'WRITE_BYTES', 'READS', 'SIGN', 'CLAIMS', 'REPORTS', 'AUTH_FAILURES'];
const RATE_LIMITS = Object.fromEntries(LIMITED.map((name) => [`RATE_LIMIT_${name}`, '0']));

/** As the specification has them (LIMIT-1): tests' gateways are started without. */
const DEFAULTS = {
  ...{ RATE_LIMIT_WRITES: '600', RATE_LIMIT_WRITE_BYTES: '16777216', RATE_LIMIT_READS: '3000', RATE_LIMIT_SIGN: '600' },
  ...{ RATE_LIMIT_CLAIMS: '6000', RATE_LIMIT_REPORTS: '12000', RATE_LIMIT_AUTH_FAILURES: '120' },
};

/** The units that one act consumed, by table. */
interface Row {
  readonly act: string;
  /** Bytes of params as JSON; absent if it does not matter. */
  readonly bytes?: number;
  readonly units: readonly Units[];
}

/** Calls of one user and one relayer to a gateway; each throws an Error if it is refused. */
async function createCalls({ url, adminKey }: RunningGateway, relayer: BenchRelayer) {
  await whitelist(url, { adminKey, address: relayer.address });
  const [token = ''] = await fetchTokens(url, 1);
  async function send({ path, ...init }: Call): Promise<string> {
    const answer = await fetch(`${url}${path}`, init);
    const body = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body.slice(0, 200)}`);
    return body;
  }
  const countOf = (body: string) => Number((JSON.parse(body) as { readonly count: number }).count);
  return {
    async create(body: object) {
      const headers = { 'content-type': 'application/json' };
      return readRequestId(await send({ method: 'POST', path: '/requests', headers, body: JSON.stringify(body) }));
    },
    claim: (id: string) => send(updateCall(relayer, id, { status: 'processing' })),
    report: (id: string) => send(updateCall(relayer, id, { status: 'success', txHash: `0x${'ab'.repeat(32)}` })),
    get: (id: string) => send(readCall(id)),
    sign: () => send(signCall(token)),
    /** @returns how many requests the page of 100 holds: fewer if their params are large. @see docs/specification.md LIST-8 */
    listOf: async (signer: string) =>
      countOf(await send({ method: 'GET', path: `/requests?signer=${signer}&limit=100` })),
    async listPending(chainName: string, limit = 100) {
      const headers = relayer.signHeaders({ method: 'GET', path: '/requests' });
      return countOf(
        await send({ method: 'GET', path: `/requests?status=pending&chainName=${chainName}&limit=${limit}`, headers }),
      );
    },
  };
}

type Calls = Awaited<ReturnType<typeof createCalls>>;

/** Requests are created at the writer, and read and claimed at the reader, another process that has nothing of them in memory. */
interface Measured {
  readonly writer: Calls;
  readonly reader: Calls;
  /** @returns what the act has given, and what it has consumed by table */
  unitsOf<T>(act: () => Promise<T>): Promise<{ readonly given: T; readonly units: readonly Units[] }>;
}

/** Measures a request from its creation to its report. */
async function measureLife({ writer, reader, unitsOf }: Measured, bytes: number): Promise<Row[]> {
  const { given: requestId, units } = await unitsOf(() => writer.create(createBody({ params: createParams(bytes) })));
  const claim = await unitsOf(() => reader.claim(requestId));
  const report = await unitsOf(() => reader.report(requestId));
  return [
    { act: 'create', bytes, units },
    { act: 'claim', bytes, units: claim.units },
    { act: 'report', bytes, units: report.units },
  ];
}

/** Measures one record that is read, a full page of one signer, and one of what is pending on a chain. */
async function measureReads({ writer, reader, unitsOf }: Measured, bytes: number): Promise<Row[]> {
  const chainName = `bench:${bytes}`;
  const { signer } = createParams();
  let requestId = '';
  for (let i = 0; i < RECORDS; i++) {
    requestId = await writer.create(createBody({ chainName, params: createParams(bytes, signer) }));
  }
  const get = await unitsOf(() => reader.get(requestId));
  const ofSigner = await unitsOf(() => reader.listOf(signer));
  const ofChain = await unitsOf(() => reader.listPending(chainName));
  return [
    { act: 'get', bytes, units: get.units },
    { act: `page of ${ofSigner.given}, by signer`, bytes, units: ofSigner.units },
    { act: `page of ${ofChain.given}, pending of a chain`, bytes, units: ofChain.units },
  ];
}

function formatRow({ act, bytes, units }: Row): string[] {
  const size = bytes === undefined ? '' : `${bytes / 1024} kB`;
  return [act, size, ...units.map(({ reads, writes }) => `${reads || '-'} / ${writes || '-'}`)];
}

/** Prints the read and write units that calls to a real gateway consume. @throws DynamoEngineMissingError if no engine can run */
export async function runUnits({ quick }: Options): Promise<boolean> {
  const stack = new AsyncDisposableStack();
  try {
    const { engine, meter, start } = await startMetered(stack);
    const [first, second] = await loadRelayers(2);
    if (first === undefined || second === undefined) throw new TypeError('two were asked for');
    const writer = await createCalls(await start(RATE_LIMITS), first);
    const reader = await createCalls(await start(RATE_LIMITS), second);
    const [third] = await loadRelayers(1);
    const limited = await createCalls(await start(DEFAULTS), third ?? first);
    const lives = { ...limited, page: () => limited.listPending('eip155:31337', 20) };
    async function unitsOf<T>(act: () => Promise<T>) {
      meter.take();
      const given = await act();
      const taken = meter.take();
      return { given, units: TABLES.map((table) => taken.get(table) ?? { reads: 0, writes: 0 }) };
    }
    const measured = { writer, reader, unitsOf };
    // The first request of a chain notes its name: one of each act goes before those that count.
    await measureLife(measured, SIZES[0] ?? 0);
    await reader.listPending('bench:none');
    await reader.listOf(createParams().signer);
    await reader.sign();
    const rows: Row[] = [];
    for (const bytes of quick ? SIZES.slice(0, 1) : SIZES)
      rows.push(...(await measureLife(measured, bytes)), ...(await measureReads(measured, bytes)));
    rows.push({ act: 'sign', units: (await unitsOf(reader.sign)).units });
    console.log(
      [
        `Consumed units as ${engine} counts them: reads / writes, with those of indexes. Requests are created at one gateway, and read,`,
        'claimed and reported at another, which has nothing of them in memory but what its page before has shown.',
        'The whitelist is the auth check of a relayer. Without limits; below, whole lives with the default ones.',
        '',
        ...formatTable([['act, by HTTP', 'params', 'requests R / W', 'whitelist R / W'], ...rows.map(formatRow)]),
        '',
        ...(await measureLives(lives, () => createBody({ params: createParams(KILOBYTE) }), meter.take)),
      ].join('\n'),
    );
    return true;
  } finally {
    await stack.disposeAsync();
  }
}
