import type { Service } from '../../ports/helperThread.ts';

/** What runs on the helper thread, by the name its caller uses; loaded when it is first called. Each takes the data that its own caller sends. */
export const services: Readonly<Record<string, () => Promise<Service<never>>>> = {
  'sqlite-writer': async () => (await import('../../drivers/sqlite/runWriter.ts')).runWriter,
  'secp256k1-recovery': async () => (await import('../../drivers/secp256k1/runRecovery.ts')).runRecovery,
};
