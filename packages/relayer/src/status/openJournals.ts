import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createJournalView, type JournalView } from '../journal/createJournalView.ts';
import { journalPath } from '../settings/settings.ts';

/** A journal on the disk, of a relayer that may be at work or not. */
export interface StoredJournal {
  readonly path: string;
  readonly relayer: string;
  readonly chainId: number;
  /** Where the journal of its sender is. */
  readonly senderPath: string;
  readonly view: JournalView;
  close(): void;
}

/** As `journalPath` names them. */
const JOURNAL_NAME = /^relayer-(\d+)-(0x[0-9a-f]{40})\.db$/;

/**
 * Opens all journals of relayers in a folder, to read them.
 *
 * @param dataDir - `DATA_DIR` of the relayers
 * @throws Error of node:fs or node:sqlite; one of a journal that this version has not written yet
 */
export function openJournals(dataDir: string): readonly StoredJournal[] {
  return readdirSync(dataDir).flatMap((name) => {
    const [, chainId, relayer] = JOURNAL_NAME.exec(name) ?? [];
    if (chainId === undefined || relayer === undefined) return [];
    const path = join(dataDir, name);
    const database = new DatabaseSync(path, { readOnly: true });
    const view = createJournalView(database);
    const senderPath = journalPath({ dataDir, kind: 'sender', address: relayer, chainId: Number(chainId) });
    return [{ path, relayer, chainId: Number(chainId), senderPath, view, close: () => database.close() }];
  });
}
