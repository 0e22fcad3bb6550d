import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@prism-gateway/testing';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { BenchContext } from '../benchContext.ts';
import { ownChild } from '../processes/ownChild.ts';
import { findBinary } from './findBinary.ts';
import { PeerMissingError } from './PeerMissingError.ts';
import type { PeerQueue } from './runPeer.ts';
import { type Peer, tunePeer } from './tunePeer.ts';

/**
 * Starts BullMQ on a Redis of its own.
 *
 * @throws PeerMissingError (`PEER_MISSING`)
 */
export async function startBullPeer(context: BenchContext): Promise<Peer> {
  const port = await startRedis(context);
  return await tunePeer(context, {
    ...{ title: 'BullMQ on Redis, appendfsync always', bound: 0.4, batchBound: 1, count: context.scale.bullJobs },
    candidates: context.options.quick ? [32] : [8, 16, 32, 64, 128],
    open: (concurrency) => openBullQueue({ port, concurrency }),
  });
}

/**
 * Opens BullMQ on a Redis, with its defaults but for the concurrency and for finished jobs, which are removed.
 *
 * @param params where, and how many at once
 * @returns the queue, its worker at work
 */
async function openBullQueue(params: { readonly port: number; readonly concurrency: number }): Promise<PeerQueue> {
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

/**
 * Starts a Redis of its own that writes every command to its file before it answers (`appendfsync always`), on 127.0.0.1 only.
 *
 * @param context the bench; the server is stopped and its data removed by its stack
 * @returns the port
 * @throws PeerMissingError (`PEER_MISSING`)
 */
async function startRedis(context: BenchContext): Promise<number> {
  const binary = await findBinary('redis-server');
  if (binary === undefined) throw new PeerMissingError('Redis', 'redis-server');
  const dir = await mkdtemp(join(context.options.dir, 'bench-redis-'));
  const port = await findFreePort();
  const server = spawn(
    binary,
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir]
      // Durable as the gateway is; snapshots beside it would only cost.
      .concat(['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''])
      // BullMQ asks for this one; it is Redis's default.
      .concat(['--maxmemory-policy', 'noeviction']),
    { stdio: 'ignore' },
  );
  ownChild(context.stack, server, { folder: dir });
  await waitUntilAnswering(port);
  return port;
}

/** The client tries again by itself until the server listens. */
async function waitUntilAnswering(port: number): Promise<void> {
  const client = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 50, maxRetriesPerRequest: 200 });
  client.on('error', () => {});
  try {
    await client.ping();
  } finally {
    client.disconnect();
  }
}
