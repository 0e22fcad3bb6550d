import type { Alerter } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import type { RelayerWireRecord } from '@prism-gateway/protocol';
import { type AdminClient, type GatewayClient, isGatewayError } from '@prism-gateway/sdk';
import { type FindingKind, isLie } from './finding.ts';
import type { StoredFinding, WatchJournal } from './journal/openWatchJournal.ts';

interface EnforcerOptions {
  readonly journal: Pick<WatchJournal, 'listToActOn' | 'markActedOn' | 'get'>;
  readonly admin: Pick<AdminClient, 'listRelayers' | 'suspendRelayer' | 'releaseRelayer' | 'reopenRequest'>;
  readonly gateway: Pick<GatewayClient, 'transport'>;
  readonly alerter: Pick<Alerter, 'raise'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Posts again what was reported as done and is not: the ended record stays as it is, and the unused signature gets a request anew. */
async function postAgain(options: EnforcerOptions, { requestId }: StoredFinding): Promise<void> {
  const { journal, gateway, alerter, log } = options;
  const row = journal.get(requestId);
  if (row?.body === undefined) return;
  // The gateway takes again a request that it has stored.
  const body = JSON.parse(row.body) as Record<string, unknown>;
  const call = { method: 'POST', path: '/requests', body, repeat: 'ifUnsent' } as const;
  const { requestId: stored } = Object(await gateway.transport.call(call)) as { readonly requestId?: string };
  if (`${stored}`.toLowerCase() !== requestId.toLowerCase())
    return log.warn({ requestId, stored }, 'posted again for another relayer');
  alerter.raise({
    code: 'WATCHTOWER_NOT_POSTED_AGAIN',
    severity: 'critical',
    subject: 'What was falsely reported as done cannot be posted again',
    text:
      `The gateway takes each signature once (REQUESTS_ONCE=always), and answers with the false record of request ${requestId} again. ` +
      'Its signature is unused: remove the record (prism requests purge) and post it again, or have its user sign anew.',
  });
}

/** Makes pending again what was falsely reported failed. Somebody may have done so already, or removed it. */
async function reopen({ admin, log }: EnforcerOptions, { requestId, relayer }: StoredFinding): Promise<void> {
  try {
    await admin.reopenRequest(requestId);
    log.warn({ requestId, relayer }, 'reopened for another relayer');
  } catch (error) {
    if (!isGatewayError(error) || (error.status !== 404 && error.status !== 409)) throw error;
    log.warn({ requestId, relayer, reason: error.message }, 'not reopened');
  }
}

const IDLE: readonly FindingKind[] = ['idleClaim', 'idleRelease'];

/** Whether the administrator has shut a relayer out, or let it in again, since its claim: meanwhile it could neither report nor give back. */
function wasShutOut({ journal }: EnforcerOptions, { requestId }: StoredFinding, record: RelayerWireRecord): boolean {
  const claimedMs = Number(journal.get(requestId)?.claimedSeconds ?? 0n) * 1000;
  return record.suspendedAt !== undefined || (claimedMs > 0 && Date.parse(record.updatedAt) > claimedMs);
}

async function act(options: EnforcerOptions, finding: StoredFinding): Promise<void> {
  const { admin, log } = options;
  const { requestId, relayer, kind } = finding;
  const { relayers } = await admin.listRelayers();
  // One that has been taken off the list is shut out already.
  const record = relayers.find(({ address }) => address.toLowerCase() === relayer);
  const isSuspended = record !== undefined && !(IDLE.includes(kind) && wasShutOut(options, finding, record));
  const reason = `watchtower: ${kind} of request ${requestId}`;
  if (isSuspended) await admin.suspendRelayer({ address: relayer, reason });
  await admin.releaseRelayer(relayer);
  log.warn({ relayer, kind, requestId }, `${isSuspended ? 'suspended' : 'was shut out'}, and what it held is released`);
  if (kind === 'falseSuccess') await postAgain(options, finding);
  if (kind === 'falseFailure' && finding.txHash === undefined) await reopen(options, finding);
}

/**
 * Makes what acts upon lies: their relayer is suspended, what it holds is released, and a request that was reported as done and is not is
 * posted again, one that was falsely reported failed reopened. What could not be done is tried again with the next look, also after a restart.
 *
 * @returns acts upon every lie that has not been acted upon; it throws GatewayError
 * @see docs/specification.md WATCH-4
 */
export function createEnforcer(options: EnforcerOptions): () => Promise<void> {
  const { journal, now } = options;
  return async function enforce() {
    for (const finding of journal.listToActOn()) {
      if (isLie(finding)) await act(options, finding);
      journal.markActedOn(finding.id, now());
    }
  };
}
