import type { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';
import type { Finding, FindingKind } from '../finding.ts';
import { hexOf, type Row } from './columns.ts';

/** What was found out. Times are Unix milliseconds. */
export const FINDING_TABLES = `
  CREATE TABLE IF NOT EXISTS findings (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    relayer TEXT NOT NULL,
    text TEXT NOT NULL,
    tx_hash TEXT,
    block INTEGER NOT NULL,
    found_at_ms INTEGER NOT NULL,
    acted_at_ms INTEGER,
    UNIQUE (request_id, kind, relayer)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS findings_to_act_on ON findings (id) WHERE acted_at_ms IS NULL;
`;

/** A finding that is on the disk. */
export interface StoredFinding extends Finding {
  readonly id: number;
  readonly foundAtMs: number;
}

function readFinding(row: Row): StoredFinding {
  return {
    id: Number(row.id),
    requestId: `${row.request_id}`,
    kind: `${row.kind}` as FindingKind,
    relayer: `${row.relayer}` as Hex,
    text: `${row.text}`,
    txHash: hexOf(row.tx_hash),
    block: BigInt(Number(row.block)),
    foundAtMs: Number(row.found_at_ms),
  };
}

/** What was found out. */
export interface FindingTable {
  /** @returns the finding with its number; undefined where it is known */
  addFinding(finding: Finding, nowMs: number): StoredFinding | undefined;
  listFindings(): readonly StoredFinding[];
  listToActOn(): readonly StoredFinding[];
  markActedOn(id: number, nowMs: number): void;
}

/** Opens its table. @param database - that has it */
export function openFindingTable(database: DatabaseSync): FindingTable {
  const statements = {
    add: database.prepare(
      `INSERT INTO findings (request_id, kind, relayer, text, tx_hash, block, found_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING *`,
    ),
    list: database.prepare('SELECT * FROM findings ORDER BY id'),
    toActOn: database.prepare('SELECT * FROM findings WHERE acted_at_ms IS NULL ORDER BY id'),
    acted: database.prepare('UPDATE findings SET acted_at_ms = ? WHERE id = ?'),
  };
  return {
    addFinding({ requestId, kind, relayer, text, txHash, block }: Finding, nowMs: number) {
      const row = statements.add.get(requestId, kind, relayer, text, txHash ?? null, Number(block), nowMs);
      return row === undefined ? undefined : readFinding(row);
    },
    listFindings: () => statements.list.all().map(readFinding),
    listToActOn: () => statements.toActOn.all().map(readFinding),
    markActedOn: (id: number, nowMs: number) => void statements.acted.run(nowMs, id),
  };
}
