export type { Alert, AlertChannel, Alerter } from './alert.ts';
export { type AlertSettings, alertFaults, alertSettings } from './alertSettings.ts';
export { createJournalFault, isJournalFault } from './createJournalFault.ts';
export { type AlertLatch, createLatch } from './createLatch.ts';
export { createOutbox } from './createOutbox.ts';
export { commitTogether, createOutboxTable, OUTBOX_SCHEMA, type OutboxTable } from './createOutboxTable.ts';
export { createRedactor } from './createRedactor.ts';
export { openChannels } from './openChannels.ts';
