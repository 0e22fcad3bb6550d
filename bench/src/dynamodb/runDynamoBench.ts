import { startDynamo, startGateway } from '@prism-gateway/testing';
import { formatTable } from '../report/formatTable.ts';
import { loadSigningCrypto } from '../signing/loadSigningCrypto.ts';
import { createGatewayCalls } from './gatewayCalls.ts';
import { measureUnits, type Row, type Tables } from './measureUnits.ts';
import { startUnitMeter, type Units } from './startUnitMeter.ts';

/** Bytes of params as JSON: 1, 16 and 200 kB. */
const SIZES = [1024, 16 * 1024, 200 * 1024];

const tables: Tables = {
  requests: 'service-requests-dev',
  relayers: 'service-relayers-dev',
  rateLimits: 'service-ratelimit-dev',
};

/** Limits that no run reaches: 0 would take the counters out of what is measured. */
const limited = ['WRITES', 'WRITE_BYTES', 'READS', 'SIGN', 'CLAIMS', 'REPORTS', 'AUTH_FAILURES'];
const rateLimits = Object.fromEntries(limited.map((name) => [`RATE_LIMIT_${name}`, '1000000000']));

const unitsText = ({ reads, writes }: Units) => `${reads || '-'} / ${writes || '-'}`;

function formatRow({ act, paramsBytes, units, target }: Row): string[] {
  const size = paramsBytes === undefined ? '' : `${paramsBytes / 1024} kB`;
  const verdict = target === undefined ? '' : `${target.text}: ${target.isKept ? 'kept' : 'MISSED'}`;
  return [act, size, unitsText(units.requests), unitsText(units.relayers), unitsText(units.rateLimits), verdict];
}

function formatUnits(rows: readonly Row[], engine: string): string {
  const head = ['act, by HTTP', 'params', 'requests R / W', 'whitelist R / W', 'rate limits R / W', 'target'];
  return [
    `Consumed units as ${engine} counts them: reads / writes, with those of indexes. Requests are created at one gateway, and read,`,
    'claimed and reported at another, which has nothing of them in memory but what its page before has shown.',
    'The whitelist is the auth check of a relayer. RATE_LIMIT_… = 0 saves what the rate limits consume. The targets are about the',
    "requests' table; storing once is the same request, compressed alike, put as one item with the same indexes.",
    '',
    ...formatTable([head, ...rows.map(formatRow)]),
  ].join('\n');
}

/**
 * Measures the read and write units that calls to a real gateway consume, and prints them with the targets.
 *
 * @returns whether all targets are kept
 * @throws DynamoEngineMissingError where no engine can run
 */
export async function runDynamoBench(): Promise<boolean> {
  const stack = new AsyncDisposableStack();
  try {
    const { rows, engine } = await measureWith(stack);
    console.log(formatUnits(rows, engine));
    return rows.every(({ target }) => target?.isKept !== false);
  } finally {
    await stack.disposeAsync();
  }
}

/** Starts all that is measured; the stack stops it. */
async function measureWith(stack: AsyncDisposableStack) {
  const engine = stack.use(await startDynamo());
  const meter = stack.adopt(await startUnitMeter(engine.endpoint), ({ close }) => close());
  const env = {
    ...{ STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: meter.url, LOG_LEVEL: 'info', ...rateLimits },
    // As a deployment on AWS: its functions read the stream, which costs no units.
    WEBHOOKS_DELIVERED_BY: 'functions',
  };
  const crypto = await loadSigningCrypto();
  const startCalls = async () => {
    const gateway = stack.adopt(await startGateway({ env }), async ({ stop }) => void (await stop()));
    return await createGatewayCalls(gateway, crypto);
  };
  const [writer, reader] = [await startCalls(), await startCalls()];
  const rows = await measureUnits({ writer, reader, meter, tables, endpoint: engine.endpoint }, SIZES);
  return { rows, engine: engine.engine };
}
