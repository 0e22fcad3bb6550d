import type { DatabaseSync } from 'node:sqlite';
import type { ExceededBudget, Loss } from '../budgets/loss.ts';

/** Most used-up budgets that are remembered; those that are free again soonest go first. */
const MAX_EXCEEDED = 1000;

/** Opens the tables of what was lost, to whom, and who has paid, in a journal's database; their writes belong to the journal's commits. */
export function openLossTable(database: DatabaseSync) {
  const insert = database.prepare(
    'INSERT INTO losses (request_id, signers, codes, wei, gift, lost_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const since = database.prepare('SELECT * FROM losses WHERE lost_at > ? ORDER BY lost_at, rowid');
  const setPaid = database.prepare('INSERT OR REPLACE INTO customers (signer, paid_net) VALUES (?, ?)');
  const findPaid = database.prepare('SELECT paid_net FROM customers WHERE signer = ?');
  const findKnownPayers = database.prepare(
    "SELECT 1 FROM customers WHERE paid_net <> '0' AND paid_net NOT LIKE '-%' LIMIT ?",
  );
  const readPaid = (signer: string) => {
    const row = findPaid.get(signer);
    // As `setPaid` writes it.
    return row === undefined ? undefined : BigInt(row.paid_net as string);
  };
  const change = (signer: string, wei: bigint) => void setPaid.run(signer, String((readPaid(signer) ?? 0n) + wei));
  const setExceeded = database.prepare(
    `INSERT INTO exceeded (budget, party, lost, budgeted, until) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (budget, party) DO UPDATE SET lost = excluded.lost, budgeted = excluded.budgeted, until = excluded.until`,
  );
  const prune = database.prepare(
    `DELETE FROM exceeded WHERE until < (SELECT until FROM exceeded ORDER BY until DESC LIMIT 1 OFFSET ${MAX_EXCEEDED})`,
  );
  return {
    add(losses: readonly Loss[]): void {
      for (const { requestId, signers, codes, wei, gift, atMs } of losses) {
        insert.run(requestId, JSON.stringify(signers), JSON.stringify(codes), String(wei), String(gift), atMs);
        // Of whoever has never paid, nothing is kept for good.
        for (const signer of signers) if (readPaid(signer) !== undefined) change(signer, -wei);
      }
    },
    /** Losses since a time, oldest first. The columns are the schema's own. */
    since: (ms: number): readonly Loss[] =>
      since.all(ms).map((row) => ({
        requestId: row.request_id as string,
        signers: JSON.parse(row.signers as string) as string[],
        codes: JSON.parse(row.codes as string) as string[],
        wei: BigInt(row.wei as string),
        gift: BigInt(row.gift as string),
        atMs: row.lost_at as number,
      })),
    /** Notes what a request has paid beyond its cost. */
    addPaid: (signers: readonly string[], wei: bigint): void =>
      signers.forEach((signer) => void change(signer, wei / BigInt(signers.length))),
    /** A signer's payments less the costs of its requests, in wei; below 0: they have cost more. */
    paidNet: (signer: string): bigint => readPaid(signer) ?? 0n,
    /** Whether at least `count` signers have paid more than their requests have cost. */
    hasKnownPayers: (count: number): boolean => findKnownPayers.all(count).length === count,
    recordExceeded({ budget, party, lost, limit, untilMs }: ExceededBudget): void {
      setExceeded.run(budget, party, String(lost), String(limit), untilMs);
      prune.run();
    },
  };
}
