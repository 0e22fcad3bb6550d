import { type AuditPage, type ListActsQuery, parseListActs, ROUTES } from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { formatTime } from '../../http/render.ts';
import { requireValid } from '../../http/request.ts';
import { jsonResponse } from '../../http/response.ts';
import type { ActPage, AdminStore, NotedAct } from '../../ports/adminStore.ts';
import type { CursorCodec } from '../../requests/createCursorCodec.ts';
import type { AdminAccess } from './adminAccess.ts';

/** Writes a page of acts as the wire has it. @param seal - writes the number at which the next page begins as a cursor */
export function renderActs({ items, next }: ActPage, seal: (position: string) => string): AuditPage {
  const acts = items.map(({ at, ...act }) => ({ at: formatTime(at), ...act }));
  return { items: acts, count: acts.length, lastKey: next === null ? null : seal(String(next)) };
}

/** Most pages of the log that one answer looks through for what was done to one target. */
const MAX_LOOKS = 10;

async function listActs(
  admin: AdminStore,
  { limit, target }: ListActsQuery,
  begin: number | undefined,
): Promise<ActPage> {
  const items: NotedAct[] = [];
  let before = begin;
  for (let looks = 0; looks < MAX_LOOKS && items.length < limit; looks++) {
    const page = await admin.listActs({ limit: limit - items.length, before });
    items.push(
      ...page.items.filter((act) => target === undefined || act.target.toLowerCase() === target.toLowerCase()),
    );
    if (page.next === null) return { items, next: null };
    before = page.next;
  }
  return { items, next: before ?? null };
}

/**
 * `GET /admin/audit`: what administrators have done, newest first.
 *
 * @see docs/specification.md ADMIN-11
 */
export function listActsEndpoint(
  { admin, cursors }: { readonly admin: AdminStore; readonly cursors: CursorCodec },
  access: AdminAccess,
): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.listActs,
    async handle(request) {
      const [query] = requireValid(parseListActs(new URLSearchParams(request.query)));
      const scope = { list: ['audit', query.target] };
      const begin = query.lastKey === undefined ? undefined : Number(cursors.open(query.lastKey, scope));
      return jsonResponse(
        200,
        renderActs(await listActs(admin, query, begin), (position) => cursors.seal(position, scope)),
      );
    },
  };
}
