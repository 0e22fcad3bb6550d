import { type QueueStatsBody, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { formatTime } from '../../http/render.ts';
import { jsonResponse } from '../../http/response.ts';
import type { Activity, AdminStore, QueueStats } from '../../ports/adminStore.ts';
import type { AdminAccess } from './adminAccess.ts';

const renderActivity = ({ start, ...counts }: Activity) => ({ start: formatTime(start), ...counts });

/** Writes stats as the wire has them. */
export function renderStats({ oldestPendingAt, oldestProcessingAt, ...stats }: QueueStats): QueueStatsBody {
  return {
    chains: [...stats.chains],
    ...(oldestPendingAt !== undefined && { oldestPendingAt: formatTime(oldestPendingAt) }),
    ...(oldestProcessingAt !== undefined && { oldestProcessingAt: formatTime(oldestProcessingAt) }),
    minutes: stats.minutes.map(renderActivity),
    hours: stats.hours.map(renderActivity),
    relayers: stats.relayers.map((relayer) => ({ ...relayer, lastSeenAt: formatTime(relayer.lastSeenAt) })),
  };
}

/** `GET /admin/stats`: what is in the queue, what has happened, and how relayers do. */
export function readStatsEndpoint(
  ports: { readonly admin: AdminStore; readonly now: () => number },
  access: AdminAccess,
): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.readStats,
    async handle() {
      return jsonResponse(200, renderStats(await ports.admin.readStats(ports.now())));
    },
  };
}
