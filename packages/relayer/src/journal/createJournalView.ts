import type { DatabaseSync } from 'node:sqlite';
import { describeWait, type GapState, isLeaveReason } from '../checks/leaveReasons.ts';

/** Amounts that only ever grow. */
export interface Totals {
  /** Paid for gas. */
  readonly spentWei: bigint;
  /** This relayer's share of fees, in base units. */
  readonly earnedCredits: bigint;
  readonly transactions: bigint;
}

/** A request that this relayer holds, for people to read. */
export interface HeldRequest {
  readonly requestId: string;
  readonly state: string;
  readonly action: string;
  readonly signer: string;
  readonly claimedAtMs: number;
  readonly updatedAtMs: number;
  readonly attempts: number;
  /** Once it was handed to the sender. */
  readonly intentId?: string;
}

/** A verdict as it was written. */
export interface WrittenVerdict {
  readonly requestId: string;
  readonly signer: string;
  readonly action: string;
  /** `ready`, `hopeless`, or why it was left. */
  readonly verdict: string;
  readonly message?: string;
  /** The thing that has to come first, and since when. */
  readonly waitsFor?: string;
  readonly sinceMs?: number;
  readonly evaluatedAtMs: number;
  readonly recheckAtMs?: number;
}

/** A budget that is used up, as it was written. */
export interface WrittenExceeded {
  readonly budget: string;
  /** A request, a signer, or the hash of a wallet's code; empty for the budgets of an hour and a day. */
  readonly party: string;
  /** In base units: wei, or credits. */
  readonly lost: string;
  readonly limit: string;
  readonly untilMs: number;
}

/** Transactions of the relayer's own address that its journal does not know. */
export interface ForeignTransactions {
  /** How many were found in the last week. */
  readonly total: number;
  /** The newest. */
  readonly last?: { readonly nonce: number; readonly txHash?: string; readonly atMs: number };
}

/** A node that was alone with what it said. */
export interface OutlierNode {
  /** Like `node 2 of RPC_URL`. */
  readonly node: string;
  /** How often that was so in the last week. */
  readonly times: number;
  /** The last of it. */
  readonly says: string;
  readonly atMs: number;
}

/** All that the journal knows of one request. */
export interface RequestStory {
  readonly requestId: string;
  readonly verdict?: WrittenVerdict;
  readonly request?: HeldRequest & { readonly gas?: string; readonly outcome?: unknown; readonly signatures: unknown };
  readonly moves: readonly { readonly state: string; readonly by: string; readonly atMs: number }[];
  readonly submissions: readonly {
    readonly intentId: string;
    readonly gasLimit: string;
    /** In the same call, this one among them. */
    readonly requests: number;
    /** The ids of the others. */
    readonly others: readonly string[];
    /** The most that is offered for a unit of gas, in wei. */
    readonly maxFeePerGas?: string;
    /** From when on it is cancelled. */
    readonly expiresAtMs?: number;
    readonly atMs: number;
  }[];
  /** Costs of its transactions beyond their fees, in base units. */
  readonly losses: readonly { readonly wei: string; readonly gift: string; readonly atMs: number }[];
  /** Budgets of it, or of those who have signed it, that were used up. */
  readonly budgets: readonly WrittenExceeded[];
}

/** The readable part of a journal, in a relayer at work or from its disk. */
export type JournalView = ReturnType<typeof createJournalView>;

/** How many, by name. */
export type Counts = Readonly<Record<string, number>>;

type SqlRow = Record<string, unknown>;

/** The columns are the schema's own: so are the types below. */
const text = (row: SqlRow, name: string) => row[name] as string;
const number = (row: SqlRow, name: string) => row[name] as number;

function readHeld(row: SqlRow): HeldRequest {
  return {
    requestId: text(row, 'request_id'),
    state: text(row, 'state'),
    action: text(row, 'action'),
    signer: text(row, 'signer'),
    claimedAtMs: number(row, 'claimed_at'),
    updatedAtMs: number(row, 'updated_at'),
    attempts: number(row, 'attempts'),
    ...(row.intent_id !== null && { intentId: text(row, 'intent_id') }),
  };
}

function readVerdict(row: SqlRow): WrittenVerdict {
  const verdict = text(row, 'verdict');
  return {
    requestId: text(row, 'request_id'),
    signer: text(row, 'signer'),
    action: text(row, 'action'),
    verdict,
    ...(row.message !== null && { message: text(row, 'message') }),
    ...(isLeaveReason(verdict) && {
      waitsFor: describeWait(verdict, row.gap as string | null, row.gap_state as GapState | null),
      sinceMs: number(row, 'since'),
    }),
    evaluatedAtMs: number(row, 'evaluated_at'),
    ...(row.recheck_at !== null && { recheckAtMs: number(row, 'recheck_at') }),
  };
}

const HELD = `SELECT request_id, state, json_extract(record, '$.action') AS action, json_extract(record, '$.signer') AS signer,
  claimed_at, updated_at, attempts, intent_id, gas, outcome, signatures FROM requests`;

/** Makes the view of a journal's database. @param database - with the journal's tables; may be read-only */
export function createJournalView(database: DatabaseSync) {
  const held = database.prepare(`${HELD} WHERE state NOT IN ('reported', 'lost') ORDER BY claimed_at LIMIT ?`);
  const countHeld = database.prepare(
    "SELECT state AS name, count(*) AS rows FROM requests WHERE state NOT IN ('reported', 'lost') GROUP BY state",
  );
  const countVerdicts = database.prepare('SELECT verdict AS name, count(*) AS rows FROM evaluated GROUP BY verdict');
  const countLeft = database.prepare(
    "SELECT verdict AS name, count(*) AS rows FROM evaluated WHERE verdict NOT IN ('ready', 'hopeless') AND evaluated_at > ? GROUP BY verdict",
  );
  const waiting = database.prepare(
    "SELECT * FROM evaluated WHERE verdict NOT IN ('ready', 'hopeless') ORDER BY evaluated_at DESC LIMIT ?",
  );
  const totals = database.prepare('SELECT name, amount FROM totals');
  const losses = database.prepare('SELECT wei FROM losses WHERE lost_at > ?');
  const exceeded = database.prepare('SELECT * FROM exceeded WHERE until > ? ORDER BY until DESC LIMIT 50');
  const foreign = database.prepare(
    'SELECT nonce, tx_hash, found_at, sum(transactions) OVER () AS total FROM foreign_transactions ORDER BY found_at DESC, rowid DESC LIMIT 1',
  );
  // Of a bare column beside max(), SQLite takes the row that has it.
  const outliers = database.prepare(
    'SELECT node, says, max(found_at) AS found_at, count(*) AS times FROM outlier_nodes GROUP BY node ORDER BY node',
  );
  const one = database.prepare(`${HELD} WHERE request_id = ?`);
  const verdict = database.prepare('SELECT * FROM evaluated WHERE request_id = ?');
  const moves = database.prepare('SELECT state, mover, moved_at FROM moves WHERE request_id = ? ORDER BY rowid');
  const submissions = database.prepare('SELECT * FROM submissions WHERE instr(request_ids, ?) > 0 ORDER BY created_at');
  const ownLosses = database.prepare(
    'SELECT wei, gift, lost_at FROM losses WHERE request_id = ? ORDER BY lost_at, rowid',
  );
  const ownBudgets = database.prepare('SELECT * FROM exceeded WHERE party = ? ORDER BY until DESC');
  const readCounts = (rows: readonly SqlRow[]) =>
    Object.fromEntries(rows.map((row) => [text(row, 'name'), number(row, 'rows')]));

  const readExceeded = (row: SqlRow): WrittenExceeded => ({
    budget: text(row, 'budget'),
    party: text(row, 'party'),
    lost: text(row, 'lost'),
    limit: text(row, 'budgeted'),
    untilMs: number(row, 'until'),
  });

  function readSubmission(requestId: string, row: SqlRow): RequestStory['submissions'][number] {
    // As the journal writes it.
    const requestIds = JSON.parse(text(row, 'request_ids')) as string[];
    return {
      intentId: text(row, 'intent_id'),
      gasLimit: text(row, 'gas_limit'),
      requests: requestIds.length,
      others: requestIds.filter((id) => id !== requestId),
      ...(row.max_fee !== null && { maxFeePerGas: text(row, 'max_fee') }),
      ...(row.expires_at !== null && { expiresAtMs: number(row, 'expires_at') }),
      atMs: number(row, 'created_at'),
    };
  }

  function explain(requestId: string): RequestStory | undefined {
    const [row, evaluated, steps] = [one.get(requestId), verdict.get(requestId), moves.all(requestId)];
    if (row === undefined && evaluated === undefined) return undefined;
    // As the journal writes it.
    const signed =
      row === undefined ? [] : (JSON.parse(text(row, 'signatures')) as { signer: string; code?: string }[]);
    const signers = signed.flatMap(({ signer, code }) => (code === undefined ? [signer] : [signer, code]));
    const evaluatedSigner = evaluated === undefined ? [] : [text(evaluated, 'signer').toLowerCase()];
    const parties = [...new Set([requestId, ...signers, ...evaluatedSigner])];
    return {
      requestId,
      ...(evaluated !== undefined && { verdict: readVerdict(evaluated) }),
      ...(row !== undefined && {
        request: {
          ...readHeld(row),
          ...(row.gas !== null && { gas: text(row, 'gas') }),
          ...(row.outcome !== null && { outcome: JSON.parse(text(row, 'outcome')) as unknown }),
          signatures: JSON.parse(text(row, 'signatures')) as unknown,
        },
      }),
      moves: steps.map((step) => ({
        state: text(step, 'state'),
        by: text(step, 'mover'),
        atMs: number(step, 'moved_at'),
      })),
      submissions: submissions.all(`"${requestId}"`).map((each) => readSubmission(requestId, each)),
      losses: ownLosses
        .all(requestId)
        .map((each) => ({ wei: text(each, 'wei'), gift: text(each, 'gift'), atMs: number(each, 'lost_at') })),
      budgets: parties.flatMap((party) => ownBudgets.all(party)).map(readExceeded),
    };
  }

  return {
    /** Requests that have not ended, oldest claim first. @param limit - most of them */
    held: (limit: number): readonly HeldRequest[] => held.all(limit).map(readHeld),
    countHeld: (): Counts => readCounts(countHeld.all()),
    /** How many requests have each verdict, among those that are remembered. */
    countVerdicts: (): Counts => readCounts(countVerdicts.all()),
    /** How many requests were left for each reason since a time, and not evaluated otherwise. */
    countLeft: (sinceMs: number): Counts => readCounts(countLeft.all(sinceMs)),
    /** The newest verdicts of requests that wait for something. */
    waiting: (limit: number): readonly WrittenVerdict[] => waiting.all(limit).map(readVerdict),
    totals(): Totals {
      const amounts = new Map(totals.all().map((row) => [text(row, 'name'), BigInt(text(row, 'amount'))]));
      const amount = (name: keyof Totals) => amounts.get(name) ?? 0n;
      return {
        spentWei: amount('spentWei'),
        earnedCredits: amount('earnedCredits'),
        transactions: amount('transactions'),
      };
    },
    /** Wei that were lost since a time. */
    lostSince: (ms: number): bigint => losses.all(ms).reduce((sum, row) => sum + BigInt(text(row, 'wei')), 0n),
    /** Budgets that are used up, those that stay so for longest first. */
    exceeded: (nowMs: number): readonly WrittenExceeded[] => exceeded.all(nowMs).map(readExceeded),
    foreign(): ForeignTransactions {
      const row = foreign.get();
      if (row === undefined) return { total: 0 };
      const last = { nonce: number(row, 'nonce'), ...(row.tx_hash !== null && { txHash: text(row, 'tx_hash') }) };
      return { total: number(row, 'total'), last: { ...last, atMs: number(row, 'found_at') } };
    },
    /** By their places. */
    outliers: (): readonly OutlierNode[] =>
      outliers.all().map((row) => ({
        node: text(row, 'node'),
        times: number(row, 'times'),
        says: text(row, 'says'),
        atMs: number(row, 'found_at'),
      })),
    /** @returns undefined for a request that the journal does not know */
    explain,
  };
}
