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

/** Writes stats as the wire has them, without what others say. */
export function renderStats({ oldestPendingAt, oldestProcessingAt, ...stats }: QueueStats, keccak256: Keccak256) {
  const body = {
    chains: [...stats.chains],
    ...(oldestPendingAt !== undefined && { oldestPendingAt: formatTime(oldestPendingAt) }),
    ...(oldestProcessingAt !== undefined && { oldestProcessingAt: formatTime(oldestProcessingAt) }),
    minutes: stats.minutes.map(renderActivity),
    hours: stats.hours.map(renderActivity),
    relayers: stats.relayers.map(({ lastSeenAt, ...relayer }) => ({
      ...relayer,
      ...(lastSeenAt !== undefined && { lastSeenAt: formatTime(lastSeenAt) }),
    })),
  };
  const hash = Buffer.from(keccak256(Buffer.from(JSON.stringify(body)))).toString('hex');
  return { version: hash.slice(0, VERSION_DIGITS), ...body };
}

/** How often those who wait look again, in milliseconds: what other processes have counted in DynamoDB they write as often. */
const LOOK_AGAIN_MS = 10_000;

interface StatsPorts extends Pick<GatewayPorts, 'admin' | 'now' | 'crypto' | 'readPrograms'> {
  readonly waits: Waits;
}

/**
 * `GET /admin/stats`: what is in the queue, what has happened, how relayers do, and what the operator's other programs say; or a wait until
 * something has happened.
 *
 * @param options.explorers - where a chain's transactions are shown
 * @see docs/specification.md ADMIN-8, ADMIN-10, ADMIN-13
 */
export function readStatsEndpoint(
  ports: StatsPorts,
  { explorers }: { readonly explorers: Readonly<Record<string, string>> },
  access: AdminAccess,
): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.readStats,
    async handle(request) {
      const [{ seen, about, waitSeconds }] = requireValid(parseStatsQuery(new URLSearchParams(request.query)));
      async function look() {
        const found = renderStats(await ports.admin.readStats(ports.now()), ports.crypto.keccak256);
        if (found.version !== seen) return { found };
        return { found, interest: { anything: true } as const, againInMs: LOOK_AGAIN_MS };
      }
      const { signal, timing } = request;
      const stats = await ports.waits.until({ look, client: 'admin', waitSeconds, signal, timing });
      const body: QueueStatsBody = {
        ...stats,
        programs: [...(await ports.readPrograms(about))],
        explorers: { ...explorers },
      };
      return jsonResponse(200, body);
    },
  };
}
