import { type Keccak256, parseStatsQuery, type QueueStatsBody, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { formatTime } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { jsonResponse } from '../../http/response.ts';
import type { Activity, QueueStats } from '../../ports/adminStore.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { Waits } from '../../push/createWaits.ts';
import type { AdminAccess } from './adminAccess.ts';

const renderActivity = ({ start, ...counts }: Activity) => ({ start: formatTime(start), ...counts });

/** Digits of a version: stats that differ have another one. */
const VERSION_DIGITS = 16;

/** Writes stats as the wire has them. */
export function renderStats(
  { oldestPendingAt, oldestProcessingAt, ...stats }: QueueStats,
  keccak256: Keccak256,
): QueueStatsBody {
  const body = {
    chains: [...stats.chains],
    ...(oldestPendingAt !== undefined && { oldestPendingAt: formatTime(oldestPendingAt) }),
    ...(oldestProcessingAt !== undefined && { oldestProcessingAt: formatTime(oldestProcessingAt) }),
    minutes: stats.minutes.map(renderActivity),
    hours: stats.hours.map(renderActivity),
    relayers: stats.relayers.map((relayer) => ({ ...relayer, lastSeenAt: formatTime(relayer.lastSeenAt) })),
  };
  const hash = Buffer.from(keccak256(Buffer.from(JSON.stringify(body)))).toString('hex');
  return { version: hash.slice(0, VERSION_DIGITS), ...body };
}

/** How often those who wait look again, in milliseconds: what other processes have counted in DynamoDB they write as often. */
const LOOK_AGAIN_MS = 10_000;

interface StatsPorts extends Pick<GatewayPorts, 'admin' | 'now' | 'crypto'> {
  readonly waits: Waits;
}

/**
 * `GET /admin/stats`: what is in the queue, what has happened, and how relayers do; or a wait until something has.
 *
 * @see docs/specification.md ADMIN-8, ADMIN-10
 */
export function readStatsEndpoint(ports: StatsPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.readStats,
    async handle(request) {
      const [{ seen, waitSeconds }] = requireValid(parseStatsQuery(new URLSearchParams(request.query)));
      async function look() {
        const found = renderStats(await ports.admin.readStats(ports.now()), ports.crypto.keccak256);
        if (found.version !== seen) return { found };
        return { found, interest: { anything: true } as const, againInMs: LOOK_AGAIN_MS };
      }
      const { signal, timing } = request;
      return jsonResponse(200, await ports.waits.until({ look, waitSeconds, signal, timing }));
    },
  };
}
