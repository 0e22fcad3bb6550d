import { ROUTES, type ServiceBody } from '@prism-gateway/protocol';
import type { CheckAdmin } from '../../auth/admin.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { RateLimiter } from '../../http/rateLimit.ts';
import type { RateLimits } from '../../http/rateLimits.ts';
import { formatTime } from '../../http/render.ts';
import { jsonResponse } from '../../http/response.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { Waits } from '../../push/createWaits.ts';
import type { AdminAccess } from './adminAccess.ts';

/** The gateway's options that are shown. */
interface ServiceOptions {
  readonly claimLeaseSeconds: number;
  readonly maxOpenClaims: number;
  readonly maxBodyBytes: number;
  readonly maxBatchSize: number;
  readonly chains: readonly string[];
  readonly rateLimits: RateLimits;
}

interface ServicePorts extends Pick<GatewayPorts, 'readBudgets' | 'readDisk' | 'now'> {
  readonly limiter: Pick<RateLimiter, 'readUse'>;
  readonly waits: Pick<Waits, 'count'>;
  readonly checkAdmin: CheckAdmin;
}

/**
 * `GET /admin/service`: the limits in force, and what this process knows of their use and of its budgets.
 *
 * @see docs/specification.md ADMIN-12
 */
export function readServiceEndpoint(
  { readBudgets, readDisk, now, limiter, waits, checkAdmin }: ServicePorts,
  options: ServiceOptions,
  access: AdminAccess,
): Endpoint<string> {
  const { claimLeaseSeconds, maxOpenClaims, maxBodyBytes, maxBatchSize, chains, rateLimits } = options;
  const since = formatTime(now());
  return {
    ...access,
    route: ROUTES.readService,
    handle({ raw }) {
      const { clients, refusals } = limiter.readUse();
      const disk = readDisk();
      const body: ServiceBody = {
        ...{ claimLeaseSeconds, maxOpenClaims, maxBodyBytes, maxBatchSize, chains: [...chains] },
        ...{ limits: { ...rateLimits }, clients: [...clients], refusals: [...refusals], since },
        ...{ budgets: [...readBudgets()], waiting: waits.count(), ...(disk && { disk }) },
        key: checkAdmin(raw),
      };
      return jsonResponse(200, body);
    },
  };
}
