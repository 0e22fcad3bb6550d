import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { PeerQueue } from './runPeer.ts';

/**
 * Opens BullMQ on a Redis, with its defaults but for the concurrency and for finished jobs, which are removed.
 *
 * @param params where, and how many at once
 * @returns the queue, its worker at work
 */
export async function openBullQueue(params: {
  readonly port: number;
  readonly concurrency: number;
}): Promise<PeerQueue> {
  // The library asks for this setting: a worker's blocking call is never given up.
  const connect = () => new Redis({ host: '127.0.0.1', port: params.port, maxRetriesPerRequest: null });
  const [adding, working] = [connect(), connect()];
  const name = `bench-${randomUUID()}`;
  const queue = new Queue(name, { connection: adding });
  const worker = new Worker(name, async () => {}, {
    connection: working,
    concurrency: params.concurrency,
    removeOnComplete: { count: 0 },
  });
  await worker.waitUntilReady();
  return {
    add: async () => readId(await queue.add('empty', {})),
    onDone: (listener) => {
      worker.on('completed', (job) => listener(readId(job)));
    },
    async close() {
      await worker.close();
      await queue.close();
      adding.disconnect();
      working.disconnect();
    },
  };
}

function readId(job: { readonly id?: string | undefined }): string {
  if (job.id === undefined) throw new Error('BullMQ gave a job without an id.');
  return job.id;
}
