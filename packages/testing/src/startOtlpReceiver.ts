import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from './listenOnLoopback.ts';

/** A span as a collector keeps it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  readonly service: string;
}

/** A collector of OpenTelemetry's traces. */
export interface OtlpReceiver extends AsyncDisposable {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Headers of the deliveries that came. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Answers each further delivery with this status, and keeps nothing; 200: takes them again. */
  answerWith(status: number): void;
  /** Waits until a span is there. */
  waitFor(isWanted: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The JSON of OTLP; a received one may hold anything. */
interface SpanJson {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number };
}

interface DeliveryJson {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly SpanJson[] }[];
  }[];
}

function readValue({ value }: KeyValue): unknown {
  const [[kind, given] = []] = Object.entries(value);
  if (kind === 'stringValue' || kind === 'boolValue' || kind === 'doubleValue') return given;
  if (kind === 'intValue' && typeof given === 'string') return Number(given);
  if (kind !== 'arrayValue') throw new Error(`no value of OTLP: ${JSON.stringify(value)}`);
  // The one form that is left.
  return (given as { readonly values: readonly Record<string, unknown>[] }).values.map((item) =>
    readValue({ key: '', value: item }),
  );
}

const readAttributes = (given: readonly KeyValue[]) =>
  Object.fromEntries(given.map((pair) => [pair.key, readValue(pair)]));

/** As strict as a collector: ids in hex of their length, times as text, in order. */
function readSpan(json: SpanJson, service: string): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind } = json;
  const [startNs, endNs] = [BigInt(json.startTimeUnixNano), BigInt(json.endTimeUnixNano)];
  const isGood =
    /^(?!0+$)[0-9a-f]{32}$/.test(traceId) &&
    /^(?!0+$)[0-9a-f]{16}$/.test(spanId) &&
    (parentSpanId === undefined || /^[0-9a-f]{16}$/.test(parentSpanId)) &&
    typeof json.startTimeUnixNano === 'string' &&
    name.length > 0 &&
    [1, 2, 3].includes(kind) &&
    startNs <= endNs;
  if (!isGood) throw new Error(`no span of OTLP: ${JSON.stringify(json)}`);
  const facts = { attributes: readAttributes(json.attributes), failed: json.status.code === 2 };
  return { traceId, spanId, parentSpanId, name, kind, startNs, endNs, ...facts, service };
}

function readDelivery(body: string): ReceivedSpan[] {
  const { resourceSpans }: DeliveryJson = JSON.parse(body);
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(readAttributes(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => readSpan(span, service)));
  });
}

/** Starts a receiver of OTLP over HTTP, JSON, on 127.0.0.1: it takes what a collector takes, and 400 is its answer to the rest. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const watchers = new Set<() => void>();
  let status = 200;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    headers.push(request.headers);
    if (status !== 200) return response.writeHead(status).end();
    const isOtlp = request.method === 'POST' && request.url === '/v1/traces';
    if (!isOtlp || request.headers['content-type'] !== 'application/json') return response.writeHead(404).end();
    try {
      spans.push(...readDelivery(body));
    } catch {
      return response.writeHead(400).end();
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
    for (const watch of watchers) watch();
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    spans,
    headers,
    answerWith(given) {
      status = given;
    },
    waitFor: (isWanted) =>
      new Promise((resolve) => {
        const look = () => {
          const found = spans.find(isWanted);
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
