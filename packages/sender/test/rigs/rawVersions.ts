import { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';
import type { SenderRig } from './createSenderRig.ts';

/** Reads the signed bytes that the journal holds for an intent, oldest first. */
export function rawVersions(rig: Pick<SenderRig, 'dir'>, intentId: string): readonly Hex[] {
  const database = new DatabaseSync(`${rig.dir}/journal.sqlite`, { readOnly: true });
  try {
    const rows = database.prepare('SELECT raw FROM versions WHERE intent_id = ? ORDER BY rowid').all(intentId);
    return rows.map(({ raw }) => raw as Hex);
  } finally {
    database.close();
  }
}
