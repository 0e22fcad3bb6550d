import type { Tracer } from '@prism-gateway/runtime/tracing';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';

/** What the gateway asks of others in the course of a call. */
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
export function tracePorts<T extends Pick<GatewayPorts, (typeof TRACED)[number]>>(ports: T, tracer: Tracer): T {
  const traced = TRACED.map((name) => [name, traceCalls(ports[name], tracer, name)]);
  // The same ports by the same names.
  return { ...ports, ...(Object.fromEntries(traced) as Pick<T, (typeof TRACED)[number]>) };
}
