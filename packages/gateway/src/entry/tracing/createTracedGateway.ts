import type { Tracer, Tracing } from '@prism-gateway/node/tracing';
import { createGateway, type Gateway, type GatewayOptions } from '../../app.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { Metrics } from '../../ports/metrics.ts';

interface TracedGateway {
  readonly ports: GatewayPorts;
  readonly options: GatewayOptions;
  /** Endpoints beyond those of every gateway. */
  readonly moreEndpoints?: Parameters<typeof createGateway>[2];
  /** Absent: nothing is traced, and nothing stands in the way of a call. */
  readonly tracing: Tracing | undefined;
  /** Whether the spans of a call are delivered before its answer: a function is frozen then. */
  readonly flushes: boolean;
}

const SERVER_ERROR = 500;

/** Has the span of each call know its route and status, which the metrics get. */
function traceAnswers(metrics: Metrics, tracer: Tracer): Metrics {
  return {
    ...metrics,
    answered(answer) {
      const span = tracer.current();
      span?.rename(`${answer.method} ${answer.route}`);
      span?.set({ 'http.route': answer.route, 'http.response.status_code': answer.status });
      if (answer.status >= SERVER_ERROR) span?.fail();
      metrics.answered(answer);
    },
  };
}

/** A path holds no secret; queries, which may, are left out. */
const startOf = (method: string, path: string, parent: string | null) => ({
  name: method,
  kind: 'server' as const,
  parent,
  attributes: { 'http.request.method': method, 'url.path': path },
});

/**
 * Builds the gateway, each call of which is a span within the trace that its `traceparent` names, if anything is traced.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server
 */
export function createTracedGateway(wired: TracedGateway): Gateway {
  const { ports, options, moreEndpoints, tracing, flushes } = wired;
  if (tracing === undefined) return createGateway(ports, options, moreEndpoints);
  const { tracer, flush } = tracing;
  const metrics = traceAnswers(ports.metrics, tracer);
  const gateway = createGateway(tracePorts({ ...ports, metrics }, tracer), options, moreEndpoints);
  return {
    ...gateway,
    answer(request) {
      const start = startOf(request.method, request.path, request.raw.headers.get('traceparent'));
      return tracer.run(start, () => gateway.answer(request));
    },
    async fetch(request, env) {
      const start = startOf(request.method, new URL(request.url).pathname, request.headers.get('traceparent'));
      try {
        return await tracer.run(start, () => gateway.fetch(request, env));
      } finally {
        if (flushes) await flush();
      }
    },
  };
}

/** The gateway's dependencies that get a span for each call. */
const TRACED = ['requests', 'relayers', 'admin', 'rateLimits', 'signer', 'tokens'] as const;

/** Makes each call of a port a span, if one is under way: what the gateway does by itself belongs to no trace. */
function traceCalls<T extends object>(port: T, tracer: Tracer, name: string): T {
  const traced = Object.entries(port).map(([key, value]) => {
    if (typeof value !== 'function') return [key, value];
    const call = (...given: unknown[]) =>
      tracer.current() === undefined
        ? value.apply(port, given)
        : tracer.run({ name: `${name}.${key}`, kind: 'client' }, () => value.apply(port, given));
    return [key, call];
  });
  // The same functions by the same names.
  return Object.fromEntries(traced) as T;
}

/** Makes what the gateway asks of its stores, of the signer and of the identity provider spans within those of its calls. */
function tracePorts<T extends Pick<GatewayPorts, (typeof TRACED)[number]>>(ports: T, tracer: Tracer): T {
  const traced = TRACED.map((name) => [name, traceCalls(ports[name], tracer, name)]);
  // The same ports by the same names.
  return { ...ports, ...(Object.fromEntries(traced) as Pick<T, (typeof TRACED)[number]>) };
}
