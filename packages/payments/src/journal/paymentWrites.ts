import type { DatabaseSync } from 'node:sqlite';
import { commitTogether } from '@prism-gateway/node/alerts';
import type { Address, Hash } from 'viem';
import type { Attempt, Payment } from './payment.ts';
import { assertMove, type PaymentState } from './paymentState.ts';
import { readPayment, writeMined } from './rows.ts';

/** A move's changes besides the state; a field that is absent stays. */
export interface MoveChanges {
  /** Absent: none. */
  readonly reason?: string;
  readonly creditsOwed?: bigint;
  /** Credits for one stablecoin, by which that was fixed. */
  readonly rate?: bigint;
  readonly txHash?: Hash;
  readonly paidBy?: Address;
  /** Null: no longer counted. */
  readonly countedDay?: string | null;
  /** A call to journal in the same commit. */
  readonly attempt?: Pick<Attempt, 'intentId' | 'kind' | 'to' | 'data'>;
  /** How the open attempt ended, in the same commit. */
  readonly finalized?: Pick<Attempt, 'intentId' | 'txHash' | 'mined'> & { readonly state: 'done' | 'void' };
}

/** A payment that was never listed before. */
export type NewPayment = Pick<Payment, 'paymentIntentId' | 'walletAddress' | 'stablecoinAmount'>;

/** One that is refused as it is listed. */
export interface RefusedPayment {
  readonly paymentIntentId: string;
  /** As it was listed. */
  readonly walletAddress: string;
  readonly stablecoinAmount: bigint;
  readonly reason: string;
}

/** Prepares the journal's statements. */
export function prepare(database: DatabaseSync) {
  return {
    insert: database.prepare(
      `INSERT INTO payments (payment_intent_id, wallet_address, stablecoin_amount, state, reason, seen_at_ms, updated_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    get: database.prepare('SELECT * FROM payments WHERE payment_intent_id = ?'),
    find: database.prepare(
      `SELECT * FROM payments WHERE payment_intent_id = ?1 OR lower(wallet_address) = lower(?1) OR tx_hash = lower(?1)
       OR payment_intent_id IN (SELECT payment_intent_id FROM attempts WHERE tx_hash = lower(?1)) ORDER BY seen_at_ms, rowid`,
    ),
    all: database.prepare('SELECT * FROM payments ORDER BY seen_at_ms, rowid'),
    waiting: database.prepare(
      `SELECT * FROM payments WHERE state IN ('seen', 'given back')
       AND NOT EXISTS (SELECT 1 FROM facts WHERE name = 'unlisted:' || payment_intent_id) ORDER BY seen_at_ms, rowid`,
    ),
    watch: database.prepare('INSERT INTO watched VALUES (?) ON CONFLICT DO NOTHING'),
    unwatch: database.prepare('DELETE FROM watched WHERE payment_intent_id = ?'),
    watched: database.prepare(
      'SELECT * FROM payments WHERE payment_intent_id IN (SELECT payment_intent_id FROM watched) ORDER BY seen_at_ms, rowid',
    ),
    byState: database.prepare('SELECT * FROM payments WHERE state = ? ORDER BY seen_at_ms, rowid'),
    update: database.prepare(
      `UPDATE payments SET state = ?, reason = ?, credits_owed = ?, attempts = ?, tx_hash = ?, paid_by = ?,
       counted_day = ?, rate = coalesce(?, rate), updated_at_ms = ? WHERE payment_intent_id = ?`,
    ),
    insertMove: database.prepare(
      'INSERT INTO moves (payment_intent_id, at_ms, from_state, to_state, reason) VALUES (?, ?, ?, ?, ?)',
    ),
    moves: database.prepare('SELECT * FROM moves WHERE payment_intent_id = ? ORDER BY id'),
    lastMove: database.prepare('SELECT max(id) AS id FROM moves'),
    movesTo: database.prepare(
      `SELECT moves.id AS move_id, moves.at_ms AS at_ms, payments.* FROM moves
       JOIN payments ON payments.payment_intent_id = moves.payment_intent_id
       WHERE moves.id > ? AND moves.to_state = ? ORDER BY moves.id`,
    ),
    insertAttempt: database.prepare(
      `INSERT INTO attempts (intent_id, payment_intent_id, kind, to_address, data, state) VALUES (?, ?, ?, ?, ?, 'open')`,
    ),
    finalizeAttempt: database.prepare('UPDATE attempts SET state = ?, tx_hash = ?, mined = ? WHERE intent_id = ?'),
    attempts: database.prepare('SELECT * FROM attempts WHERE payment_intent_id = ? ORDER BY rowid'),
    prunable: database.prepare("SELECT intent_id FROM attempts WHERE state <> 'open' AND data <> '' LIMIT 1000"),
    dropCall: database.prepare("UPDATE attempts SET data = '' WHERE intent_id = ?"),
    attempt: database.prepare('SELECT 1 FROM attempts WHERE intent_id = ?'),
    counted: database.prepare('SELECT * FROM payments WHERE counted_day = ?'),
    states: database.prepare('SELECT state, count(*) AS count FROM payments GROUP BY state'),
    forget: database.prepare('DELETE FROM payments WHERE payment_intent_id = ?'),
    decide: database.prepare('INSERT INTO decisions (payment_intent_id, at_ms, act, who, why) VALUES (?, ?, ?, ?, ?)'),
    decisions: database.prepare('SELECT * FROM decisions WHERE payment_intent_id = ? ORDER BY id'),
    backUp: database.prepare('VACUUM INTO ?'),
    fact: database.prepare('SELECT value FROM facts WHERE name = ?'),
    clearFact: database.prepare('DELETE FROM facts WHERE name = ?'),
    setFact: database.prepare(
      'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
  };
}

/** Creates what writes payments and their moves. */
export function createWrites(database: DatabaseSync, statements: ReturnType<typeof prepare>, now: () => number) {
  function get(paymentIntentId: string): Payment | undefined {
    const row = statements.get.get(paymentIntentId);
    return row === undefined ? undefined : readPayment(row);
  }

  function mustGet(paymentIntentId: string): Payment {
    const payment = get(paymentIntentId);
    if (payment === undefined) throw new TypeError(`the journal has no payment ${paymentIntentId}`);
    return payment;
  }

  function update(payment: Payment, to: PaymentState, changes: MoveChanges): void {
    const { attempt, finalized, countedDay = payment.countedDay ?? null } = changes;
    const id = payment.paymentIntentId;
    const owed = changes.creditsOwed ?? payment.creditsOwed;
    statements.update.run(
      to,
      changes.reason ?? null,
      owed === undefined ? null : `${owed}`,
      payment.attempts + (attempt === undefined ? 0 : 1),
      changes.txHash ?? payment.txHash ?? null,
      changes.paidBy ?? payment.paidBy ?? null,
      countedDay,
      changes.rate === undefined ? null : `${changes.rate}`,
      now(),
      id,
    );
    statements.insertMove.run(id, now(), payment.state, to, changes.reason ?? null);
    if (attempt !== undefined) {
      statements.insertAttempt.run(attempt.intentId, id, attempt.kind, attempt.to, attempt.data);
    }
    if (to === 'transferred') statements.watch.run(id);
    if (finalized !== undefined) {
      const { state, txHash = null, mined } = finalized;
      statements.finalizeAttempt.run(state, txHash, mined === undefined ? null : writeMined(mined), finalized.intentId);
    }
  }

  return {
    get,
    add({ paymentIntentId, walletAddress, stablecoinAmount }: NewPayment): Payment {
      return commitTogether(database, () => {
        statements.insert.run(paymentIntentId, walletAddress, `${stablecoinAmount}`, 'seen', null, now(), now());
        statements.insertMove.run(paymentIntentId, now(), null, 'seen', null);
        return mustGet(paymentIntentId);
      });
    },
    addRefused({ paymentIntentId: id, walletAddress, stablecoinAmount, reason }: RefusedPayment) {
      commitTogether(database, () => {
        statements.insert.run(id, walletAddress, `${stablecoinAmount}`, 'refused', reason, now(), now());
        statements.insertMove.run(id, now(), null, 'refused', reason);
      });
    },
    move(paymentIntentId: string, to: PaymentState, changes: MoveChanges = {}): Payment {
      return commitTogether(database, () => {
        const payment = mustGet(paymentIntentId);
        assertMove({ paymentIntentId, from: payment.state, to });
        update(payment, to, changes);
        return mustGet(paymentIntentId);
      });
    },
  };
}
