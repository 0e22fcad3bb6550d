import { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';
import { readVersion } from '../../src/journal/schema.ts';
import type { SenderRig } from './createSenderRig.ts';

/** Reads the signed bytes that the journal holds for an intent, oldest first. */
export function rawVersions(rig: Pick<SenderRig, 'dir'>, intentId: string): readonly Hex[] {
  const database = new DatabaseSync(`${rig.dir}/journal.sqlite`, { readOnly: true });
  try {
    const rows = database
      .prepare(
        'SELECT versions.*, intents.data FROM versions JOIN intents USING (intent_id) WHERE intent_id = ? ORDER BY versions.rowid',
      )
      .all(intentId);
    return rows.map((row) => readVersion(row).raw);
  } finally {
    database.close();
  }
}
