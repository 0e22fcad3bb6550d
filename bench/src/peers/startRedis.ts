import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@prism-gateway/testing';
import { Redis } from 'ioredis';
import type { BenchContext } from '../benchContext.ts';
import { ownChild } from '../processes/ownChild.ts';
import { findBinary } from './findBinary.ts';
import { PeerMissingError } from './PeerMissingError.ts';

/**
 * Starts a Redis of its own that writes every command to its file before it answers (`appendfsync always`), on 127.0.0.1 only.
 *
 * @param context the bench; the server is stopped and its data removed by its stack
 * @returns the port
 * @throws PeerMissingError (`PEER_MISSING`)
 */
export async function startRedis(context: BenchContext): Promise<number> {
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
