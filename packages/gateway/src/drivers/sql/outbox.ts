import type { WebhookEvent } from '@prism-gateway/protocol/webhooks';
import { MAX_WAITING, MAX_WAITING_POSTS } from '../../rules/deliveries.ts';
import type { MessageFacts } from '../../rules/webhookMessage.ts';
import type { Row, Statement } from './sqlWrite.ts';
import { EVENT_BITS } from './webhookRows.ts';
import type { WebhookTables } from './webhookWrites.ts';

const sameSigner = (wanted: unknown, signer: string) =>
  wanted === null || String(wanted).toLowerCase() === signer.toLowerCase();

/** Whether a webhook, as its row has it, wants an event. */
function wants({ events, chain_name: chainName, signer }: Row, { event, record }: MessageFacts): boolean {
  if ((Number(events) & EVENT_BITS[event]) === 0) return false;
  return (chainName === null || chainName === record.chainName) && sameSigner(signer, record.signer);
}

/** Most deliveries that wait for a webhook if an event is still to be kept for it. */
const roomFor = (event: WebhookEvent) => (event === 'request.created' ? MAX_WAITING_POSTS : MAX_WAITING);

/**
 * Writes one delivery for each webhook that wants an event and has room; for the others it is counted. Behind an earlier one of its request a
 * delivery waits. The one place that decides, for both SQL stores, which events are kept for whom.
 *
 * @param enabled - rows of the enabled webhooks, as the open transaction sees them
 * @returns the statements, in their order
 */
export function writeOutbox(
  { webhooks, deliveries }: WebhookTables,
  enabled: readonly Row[],
  happened: readonly MessageFacts[],
): readonly Statement[] {
  const insert = `
    INSERT INTO ${deliveries} (webhook_id, request_id, event, at, record, next_at)
    SELECT ?1, ?2, ?3, ?4, ?5, CASE WHEN EXISTS (
      SELECT 1 FROM ${deliveries} WHERE webhook_id = ?1 AND request_id = ?2 AND state = 'waiting'
    ) THEN NULL ELSE CAST(?4 AS bigint) END`;
  const count = `
    UPDATE ${webhooks} SET waiting = ?1, dropped = dropped + ?2,
      dropped_at = CASE WHEN CAST(?2 AS bigint) > 0 THEN ?3 ELSE dropped_at END WHERE id = ?4`;
  return enabled.flatMap((webhook) => {
    const wanted = happened.filter((one) => wants(webhook, one));
    if (wanted.length === 0) return [];
    const [id, before] = [String(webhook.id), Number(webhook.waiting)];
    const inserts: Statement[] = [];
    let [dropped, droppedAt] = [0, 0];
    for (const { event, at, record: r } of wanted) {
      if (before + inserts.length >= roomFor(event)) {
        dropped++;
        droppedAt = at;
        continue;
      }
      const facts = [
        ...[r.chainName, r.action, r.signer, r.status, r.createdAt, r.updatedAt],
        ...[r.txHash ?? null, r.errorMessage ?? null, r.claimedBy ?? null, r.claimedAt ?? null],
      ];
      inserts.push({ sql: insert, values: [id, r.requestId, event, at, JSON.stringify(facts)] });
    }
    return [...inserts, { sql: count, values: [before + inserts.length, dropped, droppedAt, id] }];
  });
}
