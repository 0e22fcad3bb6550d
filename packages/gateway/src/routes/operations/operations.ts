import type { PlainRoute } from '../../http/createRouter.ts';
import { jsonResponse } from '../../http/response.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';

/** How long one answer of the stores counts for `/ready`, so that a stranger cannot make the stores work. */
const READY_FOR_MS = 250;

function createReadyCheck(ports: Pick<GatewayPorts, 'checkReady' | 'now'>): () => Promise<void> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let check = Promise.resolve();
  return function checkReady() {
    const now = ports.now();
    if (Math.abs(now - checkedAt) >= READY_FOR_MS) {
      checkedAt = now;
      check = ports.checkReady();
    }
    return check;
  };
}

/** How long the stores have for an answer to `/ready`, in milliseconds: who balances load asks often, and waits for nobody. */
const READY_WITHIN_MS = 1000;

/** @throws DependencyUnavailableError, also when the stores take too long */
async function withinDeadline(check: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const cause = new Error(`no answer within ${READY_WITHIN_MS} ms`);
  const timer = setTimeout(() => late.reject(new DependencyUnavailableError('store', { cause })), READY_WITHIN_MS);
  try {
    await Promise.race([check, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function metricsRoute({ metrics }: Pick<GatewayPorts, 'metrics'>): PlainRoute {
  return {
    path: '/metrics',
    async answer() {
      const { contentType, body } = await metrics.render();
      return { status: 200, body, headers: { 'content-type': contentType } };
    },
  };
}

/**
 * `GET /health`: the process is alive. `GET /ready`: the stores answer. `GET /metrics`: for Prometheus, if it is public.
 *
 * @see docs/specification.md OPERATE-4, OPERATE-5
 */
export function operationsRoutes(
  ports: Pick<GatewayPorts, 'checkReady' | 'now' | 'metrics'>,
  { publicMetrics }: { readonly publicMetrics: boolean },
): PlainRoute[] {
  const checkReady = createReadyCheck(ports);
  return [
    { path: '/health', answer: async () => jsonResponse(200, { status: 'alive' }) },
    {
      path: '/ready',
      async answer() {
        await withinDeadline(checkReady());
        return jsonResponse(200, { status: 'ready' });
      },
    },
    ...(publicMetrics ? [metricsRoute(ports)] : []),
  ];
}
