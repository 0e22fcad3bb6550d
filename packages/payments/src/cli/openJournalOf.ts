import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openPaymentJournal, type PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Settings } from '../settings/settings.ts';
import { UsageError } from './parseWords.ts';

/**
 * Opens the journal of an instance, which may be at work meanwhile.
 *
 * @param settings - `DATA_DIR` names its folder
 * @returns the journal, and the folder it is in
 * @throws UsageError where there is none
 */
export function openJournalOf(settings: Settings): { readonly journal: PaymentJournal; readonly folder: string } {
  const folder = resolve(settings.DATA_DIR);
  const file = join(folder, 'payments.db');
  if (!existsSync(file)) throw new UsageError(`There is no journal in ${folder} yet; DATA_DIR names the folder.`);
  return { journal: openPaymentJournal({ file, now: Date.now }), folder };
}
