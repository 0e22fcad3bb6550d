import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/** A card payment as the reference frontend keeps it. */
export interface FrontendPayment {
  readonly paymentIntentId: string;
  readonly walletAddress: string;
  /** Stablecoin base units, a decimal string. */
  readonly stablecoinAmount: string;
  readonly createdAtMs: number;
  /** When its claim ends; 0: not claimed. */
  readonly leaseUntilMs: number;
  readonly claims: number;
  readonly txHash?: string;
}

/** The reference frontend's payments. */
export interface FrontendStore {
  /** @returns false if the intent is there already */
  add(payment: Pick<FrontendPayment, 'paymentIntentId' | 'walletAddress' | 'stablecoinAmount'>): boolean;
  /** Neither completed nor under a lease, oldest first. */
  listPending(limit: number): readonly FrontendPayment[];
  list(): readonly FrontendPayment[];
  /** @param claimId - of a claim that begins anew, unless there was another one since */
  claim(
    paymentIntentId: string,
    claimId?: string,
  ): { readonly outcome: 'claimed'; readonly claimId: string } | { readonly outcome: 'taken' | 'unknown' };
  /** Gives a claim up, of whoever knows its name. */
  release(paymentIntentId: string, claimId: string): 'released' | 'not held' | 'unknown';
  complete(paymentIntentId: string, txHash: string): 'completed' | 'conflict' | 'unknown';
  close(): void;
}

function readPayment(row: Readonly<Record<string, unknown>>): FrontendPayment {
  return {
    paymentIntentId: `${row.payment_intent_id}`,
    walletAddress: `${row.wallet_address}`,
    stablecoinAmount: `${row.stablecoin_amount}`,
    createdAtMs: Number(row.created_at_ms),
    leaseUntilMs: Number(row.lease_until_ms),
    claims: Number(row.claims),
    ...(row.tx_hash === null ? {} : { txHash: `${row.tx_hash}` }),
  };
}

/**
 * Opens the reference frontend's own SQLite. Each transition is one conditional write.
 *
 * @param options - file, clock, and how long a claim lasts, asked at each claim
 */
export function openFrontendStore(options: {
  readonly file: string;
  readonly now: () => number;
  readonly leaseMs: () => number;
}): FrontendStore {
  const database = new DatabaseSync(options.file, { timeout: 5000 });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS payments (
      payment_intent_id TEXT PRIMARY KEY,
      wallet_address TEXT NOT NULL,
      stablecoin_amount TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      lease_until_ms INTEGER NOT NULL DEFAULT 0,
      claims INTEGER NOT NULL DEFAULT 0,
      tx_hash TEXT,
      claim_id TEXT
    ) STRICT;
  `);
  const insert = database.prepare(
    `INSERT INTO payments (payment_intent_id, wallet_address, stablecoin_amount, created_at_ms)
     VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const pending = database.prepare(
    'SELECT * FROM payments WHERE tx_hash IS NULL AND lease_until_ms <= ? ORDER BY created_at_ms, rowid LIMIT ?',
  );
  const all = database.prepare('SELECT * FROM payments ORDER BY created_at_ms, rowid');
  const exists = database.prepare('SELECT tx_hash FROM payments WHERE payment_intent_id = ?');
  const claim = database.prepare(
    `UPDATE payments SET lease_until_ms = ?, claims = claims + 1, claim_id = ?
     WHERE payment_intent_id = ? AND tx_hash IS NULL AND lease_until_ms <= ?`,
  );
  const renew = database.prepare(
    'UPDATE payments SET lease_until_ms = ? WHERE payment_intent_id = ? AND claim_id = ? AND tx_hash IS NULL',
  );
  const release = database.prepare(
    'UPDATE payments SET lease_until_ms = 0, claim_id = NULL WHERE payment_intent_id = ? AND claim_id = ? AND tx_hash IS NULL',
  );
  const complete = database.prepare(
    'UPDATE payments SET tx_hash = ? WHERE payment_intent_id = ? AND (tx_hash IS NULL OR tx_hash = ?)',
  );
  const isKnown = (paymentIntentId: string) => exists.get(paymentIntentId) !== undefined;
  return {
    add: ({ paymentIntentId, walletAddress, stablecoinAmount }) =>
      insert.run(paymentIntentId, walletAddress, stablecoinAmount, options.now()).changes === 1,
    listPending: (limit) => pending.all(options.now(), limit).map(readPayment),
    list: () => all.all().map(readPayment),
    claim(paymentIntentId, known) {
      const nowMs = options.now();
      const untilMs = nowMs + options.leaseMs();
      const claimId = known ?? randomUUID();
      const { changes } =
        known === undefined
          ? claim.run(untilMs, claimId, paymentIntentId, nowMs)
          : renew.run(untilMs, paymentIntentId, claimId);
      if (changes === 1) return { outcome: 'claimed', claimId };
      return { outcome: isKnown(paymentIntentId) ? 'taken' : 'unknown' };
    },
    release(paymentIntentId, claimId) {
      if (release.run(paymentIntentId, claimId).changes === 1) return 'released';
      return isKnown(paymentIntentId) ? 'not held' : 'unknown';
    },
    complete(paymentIntentId, txHash) {
      if (complete.run(txHash, paymentIntentId, txHash).changes === 1) return 'completed';
      return isKnown(paymentIntentId) ? 'conflict' : 'unknown';
    },
    close: () => database.close(),
  };
}
