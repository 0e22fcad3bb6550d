import { isJournalFault } from '@prism-gateway/alerts';
import { RpcAnswerError, RpcUnavailableError } from '@prism-gateway/rpc';
import { type Sender, SenderError, type SenderEvent } from '@prism-gateway/sender';
import type { Journal } from '../journal/openJournal.ts';
import type { Health } from './createHealth.ts';
import type { NoteAlone } from './createNodeNotes.ts';

/** How long the operator is told of a transaction that somebody else has made with the key, in milliseconds. */
const TOLD_FOR_MS = 600_000;

/** A node that knows of fewer transactions lags for no longer than this, in milliseconds; and is asked more often. */
const LAG_MS = 10_000;

/** Watches whether this relayer is alone with its key. */
export interface KeyWatch {
  /** Takes in what the sender tells; only what is foreign concerns it, and nodes that make such up. */
  take(event: SenderEvent): void;
  /** Looks at the account, and tells the health. @throws SenderError `JOURNAL_FAILED`; Error of SQLite */
  look(): Promise<void>;
  /** Whether another process was at work with the key a moment ago: claims that the journal does not know are that one's. */
  isShared(): boolean;
}

/**
 * Makes the watch over the key. The account nonce is the evidence: a transaction of the relayer's own address that its journal does not
 * know was made by another process, or before the journal was restored from a backup. The Forwarder carries a request out once, whoever
 * sends it; so the work goes on, and the operator is told for as long as it happens, and ten minutes longer.
 *
 * @see docs/specification.md RELAY-24
 */
export function createKeyWatch(ports: {
  readonly sender: Pick<Sender, 'address' | 'checkKey' | 'isHeld'>;
  readonly journal: Pick<Journal, 'noteForeign'> & { readonly view: Pick<Journal['view'], 'foreign'> };
  readonly health: Pick<Health, 'noteWell' | 'noteFailure'>;
  readonly count: (transactions: number) => void;
  readonly noteAlone: NoteAlone;
  readonly log: { warn(facts: object, message: string): void };
  readonly now: () => number;
}): KeyWatch {
  const { sender, journal, health, count, noteAlone, log, now } = ports;
  const doubts = new Map<number, { readonly sinceMs: number; readonly lastMs: number }>();
  let sharedAtMs = Number.NEGATIVE_INFINITY;

  function describe(): string | undefined {
    if (sender.isHeld()) {
      return `transactions of ${sender.address} wait for a block that its journal does not know; nothing is sent until they have one`;
    }
    const { last } = journal.view.foreign();
    if (last === undefined || now() - last.atMs >= TOLD_FOR_MS) return undefined;
    const which = last.txHash === undefined ? '' : ` (${last.txHash})`;
    const found = `${sender.address} has one with account nonce ${last.nonce}${which}`;
    return `${found}; if another process uses the key, stop it or give it a key of its own; after a restore, this ends by itself`;
  }

  /** The sender goes on whatever becomes of the note. */
  function note(found: Parameters<Journal['noteForeign']>[0]): void {
    try {
      journal.noteForeign(found);
    } catch (error) {
      if (!isJournalFault(error)) throw error;
      log.warn({ reason: error.message }, 'the journal cannot be written');
    }
  }

  function tell(): void {
    const fault = describe();
    if (fault === undefined) health.noteWell('key');
    else health.noteFailure('key', fault);
  }

  /** One that knows of more speaks of what nobody can show. One that knows of fewer may lag for a moment. */
  function doubt({ node, count: told, agreed }: Extract<SenderEvent, { type: 'outvoted' }>): void {
    const nowMs = now();
    const before = doubts.get(node);
    const sinceMs = before === undefined || nowMs - before.lastMs > LAG_MS ? nowMs : before.sinceMs;
    doubts.set(node, { sinceMs, lastMs: nowMs });
    if (told < agreed && nowMs - sinceMs < LAG_MS) return;
    const says = `that ${sender.address} has made ${told} transactions, where there are ${agreed}`;
    noteAlone(node, { subject: 'the account nonce', says });
  }

  return {
    take(event) {
      if (event.type === 'outvoted') return doubt(event);
      if (event.type !== 'foreign') return;
      const { nonce, count: transactions, txHash, isOld = false } = event;
      if (!isOld) sharedAtMs = now();
      count(transactions);
      const facts = { nonce, transactions, ...(txHash !== undefined && { txHash }) };
      log.warn(facts, 'transactions of the own key that the journal does not know');
      note({ nonce: nonce + transactions - 1, transactions, txHash, atMs: now() });
      tell();
    },
    async look() {
      try {
        await sender.checkKey();
      } catch (error) {
        if (error instanceof SenderError && error.code === 'CLOSED') return;
        // Whether the node answers is told by the chain's own health.
        if (!(error instanceof RpcAnswerError || error instanceof RpcUnavailableError)) throw error;
      }
      tell();
    },
    isShared: () => now() - sharedAtMs < TOLD_FOR_MS,
  };
}
