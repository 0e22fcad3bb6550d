import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';

/** Read and write units; the halves of plain reads are kept. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
}

/** Units by the table that they were consumed on; those of its indexes are among them. */
export type UnitsByTable = ReadonlyMap<string, Units>;

export interface UnitMeter {
  /** For the gateway's `AWS_ENDPOINT_URL_DYNAMODB`. */
  readonly url: string;
  /** What was consumed since it was last asked. */
  take(): UnitsByTable;
  close(): Promise<void>;
}

interface Consumed {
  readonly TableName: string;
  readonly CapacityUnits: number;
}

interface Answer {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

const dataCalls = /\.(PutItem|UpdateItem|DeleteItem|GetItem|Query|Scan|BatchGetItem)$/;
const writeCalls = /\.(PutItem|UpdateItem|DeleteItem)$/;

/** Headers that an engine reads. */
const passedHeader = /^(authorization|content-type|x-amz-.*)$/;

const targetOf = ({ headers }: IncomingMessage) => String(headers['x-amz-target'] ?? '');

/** Passes a call on; a data call is made to tell its units. */
async function passOn(upstream: string, incoming: IncomingMessage): Promise<Response> {
  const target = targetOf(incoming);
  // DynamoDB's API takes a JSON object by POST.
  const given = (await json(incoming)) as Record<string, unknown>;
  const body = dataCalls.test(target) ? { ...given, ReturnConsumedCapacity: 'INDEXES' } : given;
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).flatMap(([name, value]) =>
      passedHeader.test(name) ? [[name, String(value)]] : [],
    ),
  );
  return await fetch(upstream, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function listen(server: Server): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The meter has no port.');
  return `http://127.0.0.1:${address.port}`;
}

/**
 * Starts a proxy before a local engine that asks what each call consumes. Local engines do not check signatures, so that it may
 * change what it passes on.
 *
 * @param upstream the engine's address
 * @returns the running meter
 */
export async function startUnitMeter(upstream: string): Promise<UnitMeter> {
  let sums = new Map<string, Units>();

  function count(target: string, { ConsumedCapacity: consumed = [] }: Answer): void {
    for (const { TableName, CapacityUnits } of [consumed].flat()) {
      const { reads, writes } = sums.get(TableName) ?? { reads: 0, writes: 0 };
      const isWrite = writeCalls.test(target);
      sums.set(TableName, {
        reads: isWrite ? reads : reads + CapacityUnits,
        writes: isWrite ? writes + CapacityUnits : writes,
      });
    }
  }

  async function handle(incoming: IncomingMessage): Promise<{ readonly status: number; readonly body: string }> {
    const target = targetOf(incoming);
    const answer = await passOn(upstream, incoming);
    const body = await answer.text();
    if (answer.ok) count(target, JSON.parse(body) as Answer);
    return { status: answer.status, body };
  }

  const server = createServer((incoming, response) => {
    handle(incoming).then(
      ({ status, body }) => response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body),
      () => response.destroy(),
    );
  });
  const url = await listen(server);
  return {
    url,
    take() {
      const taken = sums;
      sums = new Map();
      return taken;
    },
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
}
