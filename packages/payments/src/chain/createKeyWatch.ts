import type { Alerter } from '@prism-gateway/node/alerts';
import type { SenderEvent } from '@prism-gateway/sender';
import type { Address, Hash, PublicClient } from 'viem';
import { createPaymentLatch } from '../alerts/createPaymentLatch.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';

/**
 * Whether this journal knows of every transaction of the key.
 *
 * ```
 *   unresolved ── nothing waits in the node, two looks agree ──▶ ours ── a transaction that the journal does not know ──▶ used elsewhere
 *       ▲                                                                                                                   │
 *       ╰──────────────────────────────── a person: `prism payments resume` ────────────────────────────────────────────────╯
 * ```
 */
export type KeyState = 'unresolved' | 'ours' | 'used elsewhere';

/** Counts the account's transactions against those that the journal knows. */
export interface KeyWatch {
  state(): KeyState;
  /** All transactions below this account nonce are known or of before; the key is ours. */
  resolve(nextNonce: number): void;
  /** A transaction of this instance is about to be broadcast. */
  note(nonce: number): void;
  /**
   * Compares the node's count with the journal's.
   *
   * @throws KeyUsedElsewhereError `KEY_USED_ELSEWHERE`; viem's errors
   * @returns the account's transaction count, with what waits in the node
   */
  check(): Promise<number>;
  /**
   * A foreign transaction stands on an account nonce of this journal's for good. It stops payments once; after a person has resumed, it is
   * known.
   *
   * @throws KeyUsedElsewhereError `KEY_USED_ELSEWHERE` the first time
   */
  takeForeign(nonce: number): void;
  /** For the sender: a foreign transaction that has taken an account nonce is evidence. */
  takeEvent(event: SenderEvent): void;
}

/** A transaction of this instance's address is on the chain, or waits for it, that its journal does not know. */
export class KeyUsedElsewhereError extends Error {
  override readonly name = 'KeyUsedElsewhereError';
  readonly code = 'KEY_USED_ELSEWHERE';

  /** @param evidence - one sentence */
  constructor(evidence: string) {
    super(`${evidence} Nothing is paid until a person has seen to it: see docs/payments.md, "Payments are stopped".`);
  }
}

/** Names the facts of the journal: all transactions below `next` are known to it; `resolved`: and nobody else's are above. */
export const KEY_FACTS = {
  next: 'key: next account nonce',
  resolved: 'key: resolved',
  evidence: 'key: used elsewhere',
} as const;

const SUBJECT = 'Payments are stopped: the key is used elsewhere';

const describe = (evidence: string) =>
  `${evidence} Two processes with one key can pay twice. Find the other one and stop it, then run: prism payments resume.`;

/** Names the journal's fact that people were alerted to a foreign transaction on an account nonce. */
const foreignFact = (nonce: number) => `key: foreign transaction on ${nonce}`;

/**
 * Forgets what was resolved about the key, so that the next start looks at everything anew.
 *
 * @param journal - of an instance that is not at work, or is about to look
 */
export function forgetResolvedKey(journal: Pick<PaymentJournal, 'clearFact'>): void {
  journal.clearFact(KEY_FACTS.resolved);
  journal.clearFact(KEY_FACTS.evidence);
}

/**
 * Creates the watch.
 *
 * @see docs/payments.md, "Payments are stopped"
 */
export function createKeyWatch(parts: {
  readonly journal: PaymentJournal;
  readonly client: PublicClient;
  readonly alerter: Alerter;
  readonly self: Address;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}): KeyWatch {
  const { journal, client, alerter, self, now } = parts;
  const stopped = createPaymentLatch(parts, {
    code: 'KEY_USED_ELSEWHERE',
    subject: SUBJECT,
    over: 'What this key has done is clear',
  });
  const isOwn = (hash: Hash) => journal.broadcasts.nonceOf(hash) !== undefined;
  let counting: Promise<number> | undefined;
  const readNext = () => Number(journal.fact(KEY_FACTS.next) ?? 0);

  function state(): KeyState {
    if (journal.fact(KEY_FACTS.evidence) !== undefined) return 'used elsewhere';
    return journal.fact(KEY_FACTS.resolved) === undefined ? 'unresolved' : 'ours';
  }

  function stop(evidence: string): KeyUsedElsewhereError {
    if (state() !== 'used elsewhere') {
      journal.commit(() => {
        journal.setFact(KEY_FACTS.evidence, evidence);
        // Sent whatever was sent about this key before, reminded of once a day, and over once the key is resolved.
        journal.outbox.setCondition('KEY_USED_ELSEWHERE', { sinceMs: now(), alertedAtMs: now() });
        alerter.raise({ code: 'KEY_USED_ELSEWHERE', severity: 'critical', subject: SUBJECT, text: describe(evidence) });
      });
    }
    return new KeyUsedElsewhereError(evidence);
  }

  /** Calls at the same time share an answer. */
  function countTransactions(): Promise<number> {
    counting ??= client.getTransactionCount({ address: self, blockTag: 'pending' }).finally(() => {
      counting = undefined;
    });
    return counting;
  }

  return {
    state,
    resolve(nextNonce) {
      journal.commit(() => {
        journal.setFact(KEY_FACTS.next, `${nextNonce}`);
        journal.setFact(KEY_FACTS.resolved, 'two looks agree');
      });
    },
    note(nonce) {
      if (state() !== 'unresolved' && nonce >= readNext()) journal.setFact(KEY_FACTS.next, `${nonce + 1}`);
    },
    async check() {
      const evidence = journal.fact(KEY_FACTS.evidence);
      if (evidence !== undefined) {
        stopped.raise(describe(evidence));
        throw new KeyUsedElsewhereError(evidence);
      }
      const next = readNext();
      const count = await countTransactions();
      if (state() === 'unresolved') return count;
      // Own transactions may have been sent while the node was asked.
      if (count > Math.max(next, readNext()))
        throw stop(`${self} has ${count} transactions, and this journal knows of ${readNext()}.`);
      return count;
    },
    takeForeign(nonce) {
      const name = foreignFact(nonce);
      if (journal.fact(name) !== undefined) return;
      throw journal.commit(() => {
        journal.setFact(name, 'alerted');
        return stop(
          `A transaction of ${self} that is none of this journal's has account nonce ${nonce}, which a payout had.`,
        );
      });
    },
    takeEvent(event) {
      if (event.type !== 'requeued' || state() !== 'ours' || isOwn(event.foreignTxHash)) return;
      stop(
        `Transaction ${event.foreignTxHash} of ${self} is none of this journal's, and has account nonce ${event.nonce}.`,
      );
    },
  };
}
