import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** Facts of a span. They never hold keys, tokens, signatures or signed URLs. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** As OTLP numbers them. */
const KINDS = { internal: 1, server: 2, client: 3 } as const;

/** A span that has ended. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: (typeof KINDS)[keyof typeof KINDS];
  /** Milliseconds since the epoch, with their fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly failed: boolean;
}

/** A span under way. */
export interface Span {
  /** Adds facts; those of the same name are replaced. */
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Marks it as failed; what throws is marked anyway. */
  fail(): void;
}

export interface SpanStart {
  readonly name: string;
  readonly kind?: keyof typeof KINDS;
  /** A `traceparent` that came from outside; otherwise the span is a child of the one under way. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

/** Records how long what takes, across processes. */
export interface Tracer {
  /** Does something within a span, which ends when what it returns is there. @throws what `act` throws */
  run<T>(start: SpanStart, act: (span: Span) => T): T;
  /** The span under way here; undefined: none. */
  current(): Span | undefined;
  /** The `traceparent` for a call from here; undefined: no span is under way. */
  traceparent(): string | undefined;
  /** Fields that join a line of the log with its span. */
  logFields(): Readonly<Record<string, string>>;
}

interface TracerOptions {
  /** Takes each recorded span. */
  readonly record: (span: EndedSpan) => void;
  /** Share of the traces that begin here which are recorded, 0 to 1. */
  readonly sampleRatio: number;
  /** Milliseconds since the epoch, with their fractions. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

interface OpenSpan extends Span {
  readonly context: TraceContext;
}

const idOf = (bytes: number) => randomBytes(bytes).toString('hex');

/**
 * Makes a tracer. A trace that came from outside is recorded if its sender records it, so that traces are whole.
 *
 * @see https://opentelemetry.io/docs/specs/otel/trace/api/
 */
export function createTracer({ record, sampleRatio, now, random }: TracerOptions): Tracer {
  const underWay = new AsyncLocalStorage<OpenSpan>();

  function open(start: SpanStart): OpenSpan & { readonly end: (failed: boolean) => void } {
    const parent = parseTraceParent(start.parent) ?? underWay.getStore()?.context;
    const sampled = parent?.sampled ?? random() < sampleRatio;
    const context = { traceId: parent?.traceId ?? idOf(16), spanId: idOf(8), sampled };
    const startMs = now();
    let { name, attributes = {} } = start;
    let hasFailed = false;
    return {
      context,
      set(more) {
        attributes = { ...attributes, ...more };
      },
      rename(other) {
        name = other;
      },
      fail() {
        hasFailed = true;
      },
      end(failed) {
        if (!sampled) return;
        const { traceId, spanId } = context;
        const kind = KINDS[start.kind ?? 'internal'];
        const times = { startMs, endMs: now() };
        const parentSpanId = parent?.spanId;
        record({ traceId, spanId, parentSpanId, name, kind, ...times, attributes, failed: failed || hasFailed });
      },
    };
  }

  return {
    run(start, act) {
      const span = open(start);
      try {
        const result = underWay.run(span, () => act(span));
        if (!(result instanceof Promise)) {
          span.end(false);
          return result;
        }
        const ended = result.then(
          (value) => {
            span.end(false);
            return value;
          },
          (error: unknown) => {
            span.end(true);
            throw error;
          },
        );
        // The same promise but for the end of the span.
        return ended as typeof result;
      } catch (error) {
        span.end(true);
        throw error;
      }
    },
    current: () => underWay.getStore(),
    traceparent() {
      const span = underWay.getStore();
      return span && formatTraceParent(span.context);
    },
    logFields() {
      const context = underWay.getStore()?.context;
      return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
    },
  };
}

/** A status from here on is the server's fault. */
const SERVER_ERROR = 500;

/** Makes a `fetch` of which each call is a span, whose context goes along as `traceparent`. */
export function traceFetch(tracer: Tracer, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const asked = input instanceof Request ? input : undefined;
    const method = init?.method ?? asked?.method ?? 'GET';
    const { host, pathname } = new URL(asked?.url ?? String(input));
    const attributes = { 'http.request.method': method, 'server.address': host, 'url.path': pathname };
    return tracer.run({ name: method, kind: 'client', attributes }, async (span) => {
      const headers = new Headers(init?.headers ?? asked?.headers);
      const parent = tracer.traceparent();
      if (parent !== undefined) headers.set('traceparent', parent);
      // A plain object: what makes the calls may know no other form.
      const answer = await fetch(input, { ...init, headers: Object.fromEntries(headers) });
      span.set({ 'http.response.status_code': answer.status });
      if (answer.status >= SERVER_ERROR) span.fail();
      return answer;
    });
  };
}

/** Which span of which trace, and whether it is recorded. */
interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Later versions may append fields, which version 00 may not. */
const FORM = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header.
 *
 * @returns undefined for what is none: the trace then begins here
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function parseTraceParent(header: string | null | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] = FORM.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Writes a `traceparent` header. */
export function formatTraceParent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}
