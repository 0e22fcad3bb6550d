import { type AuditPage, parseListActs, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { formatTime } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { jsonResponse } from '../../http/response.ts';
import type { ActPage, AdminStore } from '../../ports/adminStore.ts';
import type { AdminAccess } from './adminAccess.ts';

/** Writes a page of acts as the wire has it. */
export function renderActs({ items, next }: ActPage): AuditPage {
  const acts = items.map(({ at, ...act }) => ({ at: formatTime(at), ...act }));
  return { items: acts, count: acts.length, lastKey: next === null ? null : String(next) };
}

/**
 * `GET /admin/audit`: what administrators have done, newest first.
 *
 * @see docs/specification.md ADMIN-11
 */
export function listActsEndpoint({ admin }: { readonly admin: AdminStore }, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.listActs,
    async handle(request) {
      const [{ limit, lastKey }] = requireValid(parseListActs(new URLSearchParams(request.query)));
      return jsonResponse(200, renderActs(await admin.listActs({ limit, before: lastKey })));
    },
  };
}
