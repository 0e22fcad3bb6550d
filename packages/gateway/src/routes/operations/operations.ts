import { jsonResponse } from '../../http/response.ts';
import type { PlainRoute } from '../../http/router.ts';
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

/** `GET /health`: the process is alive. `GET /ready`: the stores answer. `GET /metrics`: for Prometheus. */
export function operationsRoutes(ports: Pick<GatewayPorts, 'checkReady' | 'now' | 'metrics'>): PlainRoute[] {
  const checkReady = createReadyCheck(ports);
  return [
    { path: '/health', answer: async () => jsonResponse(200, { status: 'alive' }) },
    {
      path: '/ready',
      async answer() {
        await checkReady();
        return jsonResponse(200, { status: 'ready' });
      },
    },
    {
      path: '/metrics',
      async answer() {
        const { contentType, body } = await ports.metrics.render();
        return { status: 200, body, headers: { 'content-type': contentType } };
      },
    },
  ];
}
