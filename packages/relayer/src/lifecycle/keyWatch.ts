import { RpcAnswerError, RpcUnavailableError } from '@prism-gateway/node/rpc';
import { type Sender, SenderError, type SenderEvent } from '@prism-gateway/sender';
import type { Events } from '../events/events.ts';
import type { Journal } from '../journal/openJournal.ts';

/** How long the operator is notified of a transaction that somebody else has made with the key, in milliseconds. */
const TOLD_FOR_MS = 600_000;

/** A node that knows of fewer transactions lags for less than this, in milliseconds; and is asked more often. */
const LAG_MS = 20_000;

/** Watches whether this relayer is alone with its key. */
export type KeyWatch = ReturnType<typeof createKeyWatch>;

/**
 * Makes the watch over the key. The account nonce is the evidence: a transaction of the relayer's own address that its journal does not
 * know was made by another process, or before the journal was restored from a backup. The Forwarder carries a request out once, whoever
 * sends it; so the work goes on, and the operator is warned for as long as it happens, and ten minutes longer.
 *
 * @see docs/specification.md RELAY-24
 */
export function createKeyWatch(parts: {
  readonly sender: Sender;
  readonly journal: Journal;
  readonly events: Events;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
}) {
  const { sender, journal, events, now, monotonicNow } = parts;
  const doubts = new Map<number, { readonly sinceMs: number; readonly lastMs: number }>();
  let sharedAtMs = Number.NEGATIVE_INFINITY;

  function describe(): string | undefined {
    if (sender.isHeld()) {
      return `transactions of ${sender.address} wait for a block that its journal does not know; nothing is sent until they have one, or, after three minutes, a transfer of nothing in their place`;
    }
    const { last } = journal.view.foreign();
    if (last === undefined || now() - last.atMs >= TOLD_FOR_MS) return undefined;
    const which = last.txHash === undefined ? '' : ` (${last.txHash})`;
    const found = `${sender.address} has one with account nonce ${last.nonce}${which}`;
    return `${found}; if another process uses the key, stop it or give it a key of its own; after a restore, this ends by itself`;
  }

  function report(): void {
    const reason = describe();
    if (reason === undefined) events.emit({ type: 'part-well', part: 'key' });
    else events.emit({ type: 'part-failed', part: 'key', reason });
  }

  /** One that knows of more speaks of what nobody can show. One that knows of fewer may lag for a moment. */
  function doubt({ node, count: reported, agreed }: Extract<SenderEvent, { type: 'outlier' }>): void {
    const nowMs = monotonicNow();
    const before = doubts.get(node);
    const sinceMs = before === undefined || nowMs - before.lastMs > LAG_MS ? nowMs : before.sinceMs;
    doubts.set(node, { sinceMs, lastMs: nowMs });
    if (reported < agreed && nowMs - sinceMs < LAG_MS) return;
    const says = `that ${sender.address} has made ${reported} transactions, where there are ${agreed}`;
    events.emit({ type: 'node-outlier', node, subject: 'the account nonce', says });
  }

  return {
    /** Takes in what the sender reports; only what is foreign concerns it, and nodes that make such up. */
    take(event: SenderEvent): void {
      if (event.type === 'outlier') doubt(event);
      if (event.type !== 'foreign') return;
      const { nonce, count: transactions, txHash, isOld = false } = event;
      if (!isOld) sharedAtMs = monotonicNow();
      events.emit({ type: 'key-used-elsewhere', nonce, transactions, ...(txHash !== undefined && { txHash }) });
      report();
    },
    /** Reports to the health what is known already: what waited may have ended since the account was looked at. */
    report,
    /** Looks at the account, and reports to the health. @throws SenderError `JOURNAL_FAILED`; Error of SQLite */
    async look(): Promise<void> {
      try {
        await sender.checkKey();
      } catch (error) {
        if (error instanceof SenderError && error.code === 'CLOSED') return;
        // Whether the node answers is reported by the chain's own health.
        if (!(error instanceof RpcAnswerError || error instanceof RpcUnavailableError)) throw error;
      }
      report();
    },
    /** Whether another process was at work with the key a moment ago: claims that the journal does not know are that one's. */
    isShared: (): boolean => monotonicNow() - sharedAtMs < TOLD_FOR_MS,
  };
}
