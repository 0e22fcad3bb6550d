import type { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';
import type { SeenExecution } from '../evaluateReport.ts';

/** Heads and executions. Times are Unix seconds of the chain; `seen_seconds` is the time of the newest block when it was first seen. */
export const SEEN_CHAIN_TABLES = `
  CREATE TABLE executions (
    tx_hash TEXT NOT NULL,
    log_index INTEGER NOT NULL,
    block INTEGER NOT NULL,
    signer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    digest TEXT NOT NULL,
    relayer TEXT NOT NULL,
    deep_seconds INTEGER,
    seen_seconds INTEGER NOT NULL,
    PRIMARY KEY (tx_hash, log_index)
  ) STRICT;
  -- The executions of a signer since a time.
  CREATE INDEX executions_by_signer ON executions (signer, seen_seconds);
  -- What a reorganisation undoes.
  CREATE INDEX executions_by_block ON executions (block);
  -- What is deep enough now.
  CREATE INDEX executions_not_deep ON executions (block) WHERE deep_seconds IS NULL;
  -- Who has worked of late, and what is long over.
  CREATE INDEX executions_by_time ON executions (seen_seconds, relayer);
  CREATE TABLE heads (number INTEGER PRIMARY KEY, hash TEXT NOT NULL, seconds INTEGER NOT NULL, base_fee INTEGER NOT NULL) STRICT;
`;

/** How many of the newest heads are remembered, to know how deep a reorganisation went. */
const KEPT_HEADS = 512;

/** A block, as it was the newest one. */
export interface SeenHead {
  readonly number: bigint;
  readonly hash: Hex;
  /** Unix seconds. */
  readonly seconds: bigint;
  /** In wei. */
  readonly baseFee: bigint;
}

/** An execution, with what shows whose it is. */
export interface StoredExecution extends SeenExecution {
  readonly logIndex: number;
  readonly signer: Hex;
  readonly nonce: bigint;
  readonly digest: Hex;
}

const readHead = (row: Row): SeenHead => ({
  number: BigInt(Number(row.number)),
  hash: `${row.hash}` as Hex,
  seconds: BigInt(Number(row.seconds)),
  baseFee: BigInt(Number(row.base_fee)),
});

function readExecution(row: Row): StoredExecution {
  return {
    txHash: `${row.tx_hash}` as Hex,
    logIndex: Number(row.log_index),
    block: BigInt(Number(row.block)),
    signer: `${row.signer}` as Hex,
    nonce: BigInt(`${row.nonce}`),
    digest: `${row.digest}` as Hex,
    relayer: `${row.relayer}` as Hex,
    deepSeconds: bigOf(row.deep_seconds),
  };
}

/** The chain as it was seen: heads and executions. */
export interface SeenChain {
  /** Heads that were seen, newest first. */
  heads(): readonly SeenHead[];
  /** Puts down the newest head, and how deep what came before it is now. */
  addHead(head: SeenHead, confirmations: bigint): void;
  /** Forgets heads and executions above a block. @returns those executions */
  undoAbove(block: bigint): readonly StoredExecution[];
  /** @param seconds - of the newest block */
  addExecutions(executions: readonly StoredExecution[], seconds: bigint): void;
  /** Executions of some signers, oldest first. @param sinceSeconds - in blocks no older: what a signature is valid from, no older one carried out */
  executionsOf(signers: Iterable<Hex>, sinceSeconds: bigint): readonly StoredExecution[];
  /** Forgets what was seen before a time of the chain. */
  forgetExecutions(beforeSeconds: bigint): void;
}

/** Opens its tables. @param database - that has them */
export function openSeenChain(database: DatabaseSync): SeenChain {
  const statements = {
    heads: database.prepare('SELECT * FROM heads ORDER BY number DESC'),
    addHead: database.prepare('INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?)'),
    trim: database.prepare('DELETE FROM heads WHERE number <= (SELECT max(number) FROM heads) - ?'),
    deepen: database.prepare('UPDATE executions SET deep_seconds = ? WHERE deep_seconds IS NULL AND block <= ?'),
    undone: database.prepare('SELECT * FROM executions WHERE block > ?'),
    undoExecutions: database.prepare('DELETE FROM executions WHERE block > ?'),
    undoHeads: database.prepare('DELETE FROM heads WHERE number > ?'),
    add: database.prepare('INSERT OR REPLACE INTO executions VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)'),
    of: database.prepare('SELECT * FROM executions WHERE signer = ? AND seen_seconds >= ? ORDER BY block, log_index'),
    forget: database.prepare('DELETE FROM executions WHERE seen_seconds < ?'),
  };
  /** As they are on the disk. */
  let known: readonly SeenHead[] | undefined;
  function heads(): readonly SeenHead[] {
    const read = known ?? statements.heads.all().map(readHead);
    // A transaction's events may be undone with it.
    if (!database.isTransaction) known = read;
    return read;
  }
  return {
    heads,
    addHead({ number, hash, seconds, baseFee }: SeenHead, confirmations: bigint) {
      known = undefined;
      statements.addHead.run(Number(number), hash, Number(seconds), Number(baseFee));
      statements.trim.run(KEPT_HEADS);
      statements.deepen.run(Number(seconds), Number(number - confirmations + 1n));
    },
    undoAbove(block: bigint) {
      known = undefined;
      const undone = statements.undone.all(Number(block)).map(readExecution);
      statements.undoExecutions.run(Number(block));
      statements.undoHeads.run(Number(block));
      return undone;
    },
    addExecutions(executions: readonly StoredExecution[], seconds: bigint) {
      for (const { txHash, logIndex, block, signer, nonce, digest, relayer } of executions)
        statements.add.run(txHash, logIndex, Number(block), signer, `${nonce}`, digest, relayer, Number(seconds));
    },
    executionsOf: (signers: Iterable<Hex>, sinceSeconds: bigint) =>
      [...signers].flatMap((signer) => statements.of.all(signer, Number(sinceSeconds)).map(readExecution)),
    forgetExecutions: (beforeSeconds: bigint) => void statements.forget.run(Number(beforeSeconds)),
  };
}

/** A row as SQLite gives it. */
export type Row = Record<string, string | number | bigint | null | Uint8Array>;

// Only what the journal wrote is read.
export const hexOf = (value: Row[string] | undefined) => (value == null ? undefined : (`${value}` as Hex));
export const bigOf = (value: Row[string] | undefined) => (value == null ? undefined : BigInt(Number(value)));
export const numberOf = (value: Row[string] | undefined) => (value == null ? undefined : Number(value));
export const orNull = (value: bigint | undefined) => (value === undefined ? null : Number(value));
