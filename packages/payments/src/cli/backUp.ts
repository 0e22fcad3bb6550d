import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory, syncDirectorySync } from '@prism-gateway/runtime';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { UsageError } from './parseWords.ts';

function copyDatabase(from: string, to: string): void {
  const database = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } finally {
    // Not `using`: the checker of imports cannot read it.
    database.close();
  }
}

/**
 * Copies the journal with its outbox, and the sender's journal, while the relayer is at work.
 *
 * @param source - the journal and its folder
 * @param target - a folder without a backup in it; made where it is missing
 * @returns the files
 * @throws UsageError where there is a backup already, or no room for one; then nothing of it is left. DirectoryError
 */
export function backUp(
  source: { readonly journal: PaymentJournal; readonly folder: string },
  target: string,
): readonly string[] {
  const folder = resolve(target);
  makeDirectory(folder);
  const files = ['payments.db', 'sender.db'].map((name) => join(folder, name));
  const [payments = '', sender = ''] = files;
  if (files.some((file) => existsSync(file)))
    throw new UsageError(`There is a backup in ${folder} already; name another folder.`);
  const senderJournal = join(source.folder, 'sender.db');
  const written = existsSync(senderJournal) ? files : [payments];
  try {
    // The sender's last: it may know more than the journal, and never less.
    source.journal.backUp(payments);
    if (written.length > 1) copyDatabase(senderJournal, sender);
    for (const file of written) chmodSync(file, 0o600);
    syncDirectorySync(folder);
  } catch (error) {
    for (const file of files) rmSync(file, { force: true });
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new UsageError(
      `There is no backup in ${folder}: ${reason}. Nothing of it is left; make room, or name another.`,
    );
  }
  return written;
}
