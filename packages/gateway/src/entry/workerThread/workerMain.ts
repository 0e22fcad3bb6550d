/**
 * The thread beside the one that answers HTTP. One for all services: each thread of Node's costs more memory than what runs on it.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Service } from '../../ports/workerThread.ts';

/** Asks for a service, which speaks through the port. */
export interface ServiceCall {
  readonly service: string;
  readonly data: unknown;
  readonly port: MessagePort;
}

/** The services of the worker thread, by name; each is loaded when it is first called, and takes the data that its own caller sends. */
export const services: Readonly<Record<string, () => Promise<Service<never>>>> = {
  'sqlite-writer': async () => (await import('../../drivers/sqlite/runWriter.ts')).runWriter,
  'secp256k1-recovery': async () => (await import('../../drivers/secp256k1/runRecovery.ts')).runRecovery,
};

async function startService({ service, data, port }: ServiceCall): Promise<void> {
  const load = services[service];
  if (load === undefined) throw new Error(`There is no service ${service}.`);
  const run = await load();
  // Whoever calls a service by its name sends its data.
  await run(port, data as never);
}

// Started as a worker by `createWorkerThread.ts`; imported elsewhere it does nothing. What a service throws ends the thread.
parentPort?.on('message', (call: ServiceCall) => void startService(call));
