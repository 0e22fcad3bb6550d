import type { DatabaseSync } from 'node:sqlite';
import type { ExceededBudget, Loss } from '../budgets/loss.ts';

/** Most used-up budgets that are remembered; those that are free again soonest go first. */
const MAX_EXCEEDED = 1000;

/** Keeps what was lost, to whom, and who has paid. */
export interface LossTable {
  add(losses: readonly Loss[]): void;
  /** Losses since a time, oldest first. */
  since(ms: number): readonly Loss[];
  addCustomers(signers: readonly string[]): void;
  isCustomer(signer: string): boolean;
  /** Whether anybody has paid. */
  hasCustomers(): boolean;
  noteExceeded(exceeded: ExceededBudget): void;
}

/** Opens the tables of losses in a journal's database; their writes belong to the journal's commits. */
export function openLossTable(database: DatabaseSync): LossTable {
  const insert = database.prepare(
    'INSERT INTO losses (request_id, signers, codes, wei, gift, lost_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const since = database.prepare('SELECT * FROM losses WHERE lost_at > ? ORDER BY lost_at, rowid');
  const addCustomer = database.prepare('INSERT INTO customers (signer) VALUES (?) ON CONFLICT DO NOTHING');
  const findCustomer = database.prepare('SELECT 1 FROM customers WHERE signer = ?');
  const findAnyCustomer = database.prepare('SELECT 1 FROM customers LIMIT 1');
  const setExceeded = database.prepare(
    `INSERT INTO exceeded (budget, party, lost, budgeted, until) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (budget, party) DO UPDATE SET lost = excluded.lost, budgeted = excluded.budgeted, until = excluded.until`,
  );
  const prune = database.prepare(
    `DELETE FROM exceeded WHERE until < (SELECT until FROM exceeded ORDER BY until DESC LIMIT 1 OFFSET ${MAX_EXCEEDED})`,
  );
  return {
    add(losses) {
      for (const { requestId, signers, codes, wei, gift, atMs } of losses) {
        insert.run(requestId, JSON.stringify(signers), JSON.stringify(codes), String(wei), String(gift), atMs);
      }
    },
    // The columns are the schema's own.
    since: (ms) =>
      since.all(ms).map((row) => ({
        requestId: row.request_id as string,
        signers: JSON.parse(row.signers as string) as string[],
        codes: JSON.parse(row.codes as string) as string[],
        wei: BigInt(row.wei as string),
        gift: BigInt(row.gift as string),
        atMs: row.lost_at as number,
      })),
    addCustomers: (signers) => signers.forEach((signer) => void addCustomer.run(signer)),
    isCustomer: (signer) => findCustomer.get(signer) !== undefined,
    hasCustomers: () => findAnyCustomer.get() !== undefined,
    noteExceeded({ budget, party, lost, limit, untilMs }) {
      setExceeded.run(budget, party, String(lost), String(limit), untilMs);
      prune.run();
    },
  };
}
