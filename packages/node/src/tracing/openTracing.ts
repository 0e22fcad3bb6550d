import { type Environment, SettingsError } from '../settings/index.ts';
import { createTracer, type EndedSpan, type SpanAttributes, type Tracer } from './createTracer.ts';

/** A tracer with where its spans go. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Delivers what there is; never rejects. */
  flush(): Promise<void>;
  /** Delivers the rest, and stops. */
  close(): Promise<void>;
}

interface TracingContext {
  readonly environment: Environment;
  /** Unless `OTEL_SERVICE_NAME` has another. */
  readonly serviceName: string;
  /** Called when the collector stops taking spans. */
  readonly onFault: (reason: string) => void;
  /** Longest wait for the collector, in milliseconds; default 10 s. */
  readonly timeoutMs?: number;
}

const INTERVAL_MS = 5000;
const TIMEOUT_MS = 10_000;

const isHttpUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Reads `key=value,key=value`, percent-encoded. @returns undefined for what is none */
function readHeaders(text: string): Record<string, string> | undefined {
  try {
    const pairs = text.split(',').flatMap((part) => part.trim() || []);
    return Object.fromEntries(
      pairs.map((pair) => {
        const [, name, value] = /^([\w-]+)\s*=\s*(.*)$/.exec(pair) ?? [];
        if (name === undefined || value === undefined) throw new Error('no pair');
        return [name.toLowerCase(), decodeURIComponent(value)];
      }),
    );
  } catch {
    return undefined;
  }
}

/**
 * Opens the tracing that the environment asks for, by OpenTelemetry's own names: `OTEL_EXPORTER_OTLP_ENDPOINT` (or
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, taken as it is), `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and
 * `OTEL_TRACES_SAMPLER_ARG`.
 *
 * @returns undefined if no collector is named: nothing is traced, and nothing is spent on it
 * @throws SettingsError (`SETTINGS_INVALID`) that repeats no value
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function openTracing({ environment, serviceName, onFault, timeoutMs }: TracingContext): Tracing | undefined {
  const base = environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (!url) return undefined;
  const headers = readHeaders(environment.OTEL_EXPORTER_OTLP_HEADERS ?? '');
  const sampleRatio = Number(environment.OTEL_TRACES_SAMPLER_ARG || 1);
  const faults: string[] = [];
  if (!isHttpUrl(url)) faults.push('OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https URL');
  if (headers === undefined) faults.push('OTEL_EXPORTER_OTLP_HEADERS: expected name=value, with commas between');
  if (!(sampleRatio >= 0 && sampleRatio <= 1)) faults.push('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1');
  if (faults.length > 0 || headers === undefined) throw new SettingsError(faults);
  const exporter = createOtlpExporter({
    url,
    headers,
    serviceName: environment.OTEL_SERVICE_NAME || serviceName,
    intervalMs: INTERVAL_MS,
    timeoutMs: timeoutMs ?? TIMEOUT_MS,
    onFault,
  });
  const tracer = createTracer({
    record: exporter.record,
    sampleRatio,
    now: () => performance.timeOrigin + performance.now(),
    random: Math.random,
  });
  return { tracer, flush: exporter.flush, close: exporter.close };
}

interface OtlpOptions {
  /** The whole address, like `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** Sent along; they may hold a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Pause between two deliveries, in milliseconds. */
  readonly intervalMs: number;
  /** Longest wait for the collector's answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Called when deliveries begin to fail. @param reason - without the address, which may hold a key */
  readonly onFault: (reason: string) => void;
}

/** Delivers spans to a collector. */
interface OtlpExporter {
  record(span: EndedSpan): void;
  /** Delivers what there is; resolves at the latest after the time limit, whatever became of it. */
  flush(): Promise<void>;
  /** Delivers the rest, and stops. */
  close(): Promise<void>;
}

/** Spans that wait at most: a collector that is away must not fill the memory. */
const MOST_WAITING = 4096;
/** Spans of one delivery. */
const MOST_AT_ONCE = 512;
/** Answers after which it is worth to try again. @see https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const PASSING = [429, 502, 503, 504];

function writeValue(value: SpanAttributes[string]): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } };
}

const attributesOf = (facts: SpanAttributes) =>
  Object.entries(facts).map(([key, value]) => ({ key, value: writeValue(value) }));

/** Nanoseconds as text: JSON has no numbers of that size. */
const nanosOf = (ms: number) => `${Math.round(ms * 1000)}000`;

function writeSpan({ startMs, endMs, attributes, failed, parentSpanId, ...span }: EndedSpan) {
  const times = { startTimeUnixNano: nanosOf(startMs), endTimeUnixNano: nanosOf(endMs) };
  const parent = parentSpanId !== undefined && { parentSpanId };
  return { ...span, ...parent, ...times, attributes: attributesOf(attributes), status: failed ? { code: 2 } : {} };
}

/** Posts a delivery. @returns the status @throws Error of the connection */
async function post({ url, headers, timeoutMs }: OtlpOptions, body: string): Promise<number> {
  // To import `node:http` loads all of Node's fetch, longer than the whole function: nobody without a collector waits for it.
  const { request: send } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
  return await new Promise((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const call = send(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': length },
      signal: AbortSignal.timeout(timeoutMs),
    });
    call.on('error', reject);
    call.on('response', (answer) => {
      answer.resume();
      answer.on('error', reject);
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    call.end(body);
  });
}

/**
 * Makes the exporter: OTLP over HTTP, as JSON. What cannot be delivered waits for the next time, as far as there is room.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
function createOtlpExporter(options: OtlpOptions): OtlpExporter {
  const { serviceName, intervalMs, onFault } = options;
  let waiting: EndedSpan[] = [];
  let timer: NodeJS.Timeout | undefined;
  let delivery = Promise.resolve();
  let isFailing = false;

  function writeBody(spans: readonly EndedSpan[]): string {
    const resource = { attributes: attributesOf({ 'service.name': serviceName }) };
    const scopeSpans = [{ scope: { name: 'prism-gateway' }, spans: spans.map(writeSpan) }];
    return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
  }

  function recordFault(reason: string): void {
    if (!isFailing) onFault(reason);
    isFailing = true;
  }

  /** @returns whether there is more to deliver now */
  async function deliver(): Promise<boolean> {
    const spans = waiting.splice(0, MOST_AT_ONCE);
    if (spans.length === 0) return false;
    const status = await post(options, writeBody(spans)).catch(() => 0);
    const isTaken = status >= 200 && status < 300;
    if (isTaken) isFailing = false;
    else recordFault(status === 0 ? 'it did not answer' : `it answered ${status}`);
    if (status === 0 || PASSING.includes(status)) waiting = [...spans, ...waiting].slice(0, MOST_WAITING);
    return isTaken && waiting.length > 0;
  }

  async function deliverAll(): Promise<void> {
    while (await deliver());
  }

  function flush(): Promise<void> {
    delivery = delivery.then(deliverAll);
    return delivery;
  }

  return {
    record(span) {
      if (waiting.length < MOST_WAITING) waiting.push(span);
      // Of a process that has nothing else to do it keeps none alive.
      timer ??= setInterval(() => void flush(), intervalMs).unref();
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
