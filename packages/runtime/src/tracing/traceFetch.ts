import type { Tracer } from './createTracer.ts';

/** A status from here on is the server's fault. */
const SERVER_ERROR = 500;

/**
 * Makes a `fetch` of which each call is a span, whose context goes along as `traceparent`.
 *
 * @param tracer - whose spans they are
 * @param fetch - what makes the calls
 */
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
