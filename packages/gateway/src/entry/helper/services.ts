import type { Service } from '../../ports/helperThread.ts';

// A service's data are what its caller sends, as the names below pair them.
// biome-ignore lint/suspicious/noExplicitAny: the table holds services of every kind
type AnyService = Service<any>;

/** What runs on the helper thread, by the name its caller uses; loaded when it is first called. */
export const services: Readonly<Record<string, () => Promise<AnyService>>> = {
  'sqlite-writer': async () => (await import('../../drivers/sqlite/runWriter.ts')).runWriter,
  'secp256k1-recovery': async () => (await import('../../drivers/secp256k1/runRecovery.ts')).runRecovery,
};
