import type { Tracer } from '@prism-gateway/runtime/tracing';
import type { Handler, Handlers } from './advanceRequests.ts';

/**
 * Makes each move of requests a span that names them: so the traces of a user, a gateway and a relayer are joined.
 *
 * @param handlers - what moves them
 * @param tracer - undefined: nothing is traced
 */
export function traceHandlers(handlers: Handlers, tracer: Tracer | undefined): Handlers {
  if (tracer === undefined) return handlers;
  const traced = Object.entries(handlers).map(([name, handle]: [string, Handler]) => {
    const move: Handler = (requests) => {
      const attributes = { 'prism.request_ids': requests.map(({ requestId }) => requestId) };
      return tracer.run({ name, attributes }, () => handle(requests));
    };
    return [name, move];
  });
  // The same handlers by the same names.
  return Object.fromEntries(traced) as Handlers;
}
