import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenOnLoopback, startDynamo, startGateway } from '@prism-gateway/testing';

/** Read and write units; the halves of plain reads are kept. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
}

export interface UnitMeter {
  /** For the gateway's `AWS_ENDPOINT_URL_DYNAMODB`. */
  readonly url: string;
  /** Units consumed since the last call, by table; those of a table's indexes are among them. */
  take(): ReadonlyMap<string, Units>;
  close(): Promise<void>;
}

interface Consumed {
  readonly TableName: string;
  readonly CapacityUnits: number;
}

interface Answer {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

const DATA_CALLS = /\.(PutItem|UpdateItem|DeleteItem|GetItem|Query|Scan|BatchGetItem)$/;
const WRITE_CALLS = /\.(PutItem|UpdateItem|DeleteItem)$/;
/** Headers that an engine reads. */
const PASSED_HEADER = /^(authorization|content-type|x-amz-.*)$/;

const targetOf = ({ headers }: IncomingMessage) => String(headers['x-amz-target'] ?? '');

/** Passes a call on; a data call is made to return its units. */
async function passOn(upstream: string, incoming: IncomingMessage): Promise<Response> {
  // DynamoDB's API takes a JSON object by POST.
  const given = (await json(incoming)) as Record<string, unknown>;
  const body = DATA_CALLS.test(targetOf(incoming)) ? { ...given, ReturnConsumedCapacity: 'INDEXES' } : given;
  const headers = Object.entries(incoming.headers).filter(([name]) => PASSED_HEADER.test(name));
  const passed = Object.fromEntries(headers.map(([name, value]) => [name, String(value)]));
  return await fetch(upstream, { method: 'POST', headers: passed, body: JSON.stringify(body) });
}

/**
 * Starts a proxy before a local engine that asks what each call consumes. Local engines do not check signatures, so that it may
 * change what it passes on.
 *
 * @param upstream - the engine's address
 */
async function startUnitMeter(upstream: string): Promise<UnitMeter> {
  let sums = new Map<string, Units>();
  function count(target: string, { ConsumedCapacity: consumed = [] }: Answer): void {
    for (const { TableName, CapacityUnits } of [consumed].flat()) {
      const { reads, writes } = sums.get(TableName) ?? { reads: 0, writes: 0 };
      const isWrite = WRITE_CALLS.test(target);
      sums.set(TableName, {
        reads: isWrite ? reads : reads + CapacityUnits,
        writes: isWrite ? writes + CapacityUnits : writes,
      });
    }
  }
  const server = createServer((incoming, response) => {
    const pass = async () => {
      const answer = await passOn(upstream, incoming);
      const body = await answer.text();
      if (answer.ok) count(targetOf(incoming), JSON.parse(body) as Answer);
      response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
    };
    pass().catch(() => response.destroy());
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    take() {
      const taken = sums;
      sums = new Map();
      return taken;
    },
    close,
  };
}

/**
 * Starts an engine and a meter before it.
 *
 * @param stack - stops all that is started
 * @returns the meter, and what starts a gateway on it
 * @throws DynamoEngineMissingError if no engine can run
 */
export async function startMetered(stack: AsyncDisposableStack) {
  const engine = stack.use(await startDynamo());
  const meter = stack.adopt(await startUnitMeter(engine.endpoint), ({ close }) => close());
  return {
    engine: engine.engine,
    meter,
    async start(settings: Readonly<Record<string, string>>) {
      const env = {
        ...{ STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: meter.url },
        ...settings,
      };
      return stack.use(await startGateway({ env }));
    },
  };
}
