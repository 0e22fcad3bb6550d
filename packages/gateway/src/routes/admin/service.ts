import { type ProgramList, ROUTES, type ServiceBody } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import type { RateLimits } from '../../http/rateLimit.ts';
import { jsonResponse } from '../../http/response.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { AdminAccess } from './adminAccess.ts';

/** What is told of the gateway's options. */
interface ServiceOptions {
  readonly claimLeaseSeconds: number;
  readonly maxOpenClaims: number;
  readonly maxBodyBytes: number;
  readonly maxBatchSize: number;
  readonly chains: readonly string[];
  readonly rateLimits: RateLimits;
  readonly explorers: Readonly<Record<string, string>>;
}

/**
 * `GET /admin/service`: the limits in force, what is in use of this process' budgets, and where transactions are shown.
 *
 * @see docs/specification.md ADMIN-12
 */
export function readServiceEndpoint(
  { readBudgets }: Pick<GatewayPorts, 'readBudgets'>,
  options: ServiceOptions,
  access: AdminAccess,
): Endpoint<string> {
  const { claimLeaseSeconds, maxOpenClaims, maxBodyBytes, maxBatchSize, chains, rateLimits, explorers } = options;
  return {
    ...access,
    route: ROUTES.readService,
    handle() {
      const body: ServiceBody = {
        ...{ claimLeaseSeconds, maxOpenClaims, maxBodyBytes, maxBatchSize, chains: [...chains] },
        ...{ limits: { ...rateLimits }, budgets: [...readBudgets()], explorers: { ...explorers } },
      };
      return jsonResponse(200, body);
    },
  };
}

/**
 * `GET /admin/programs`: what the operator's other programs say of themselves.
 *
 * @see docs/specification.md ADMIN-13
 */
export function readProgramsEndpoint(
  { readPrograms }: Pick<GatewayPorts, 'readPrograms'>,
  access: AdminAccess,
): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.readPrograms,
    async handle() {
      const programs = [...(await readPrograms())];
      const body: ProgramList = { programs, count: programs.length };
      return jsonResponse(200, body);
    },
  };
}
