import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';
import type { BenchContext } from '../benchContext.ts';
import { measureSync } from './measureSync.ts';

/** What the figures depend on, by name. */
export type Configuration = Readonly<Record<string, string>>;

const packages = [
  'hono',
  '@hono/node-server',
  'secp256k1',
  '@aws-sdk/s3-request-presigner',
  'graphile-worker',
  'bullmq',
  'ioredis',
];

/**
 * Collects what the figures depend on.
 *
 * @param context the bench
 * @returns machine, versions, settings
 */
export async function collectConfiguration(context: BenchContext): Promise<Configuration> {
  const { options, scale } = context;
  const processors = cpus();
  return {
    Date: new Date().toISOString(),
    Commit: await readCommit(),
    Machine: `${processors[0]?.model.trim()}, ${processors.length} cores, ${(totalmem() / 1e9).toFixed(0)} GB, ${type()} ${release()}`,
    Disk: `write of 4 KiB and fdatasync: ${(await measureSync(context.dir)).toFixed(2)} ms (median)`,
    Node: `${process.version}; servers as npm start has them: ${describeFlags(context)}`,
    Packages: (await Promise.all(packages.map(readVersion))).join(', '),
    Gateway: `STAGE=dev STORE=sqlite LOG_LEVEL=${options.logLevel} (log to a file), rate limits on and out of reach`,
    Load: `one process, ${options.connections} keep-alive connections, one call at a time on each`,
    Runs: `${options.runs} of each in turn, after one to warm up; figures are medians, ratios are medians of the rounds' ratios`,
    Work: Object.entries(scale)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
    ...(options.quick ? { Note: '--quick: figures of this run are not to be published' } : {}),
    ...(options.profile === undefined ? {} : { Profile: 'gateways ran under the CPU profiler, which slows them' }),
  };
}

async function readCommit(): Promise<string> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', args, { cwd: import.meta.dirname })).stdout.trim();
  try {
    const changes = await git('status', '--porcelain', '--untracked-files=no');
    return `${await git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : ', with local changes'}`;
  } catch {
    return 'unknown (not a git working tree)';
  }
}

async function readVersion(name: string): Promise<string> {
  // Not through the package's own exports, which need not name its package.json.
  const file = new URL(`../../../node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string };
  return `${name} ${version}`;
}

function describeFlags({ startCommand }: BenchContext): string {
  const settings = Object.entries(startCommand.env).map(([name, value]) => `${name}=${value}`);
  return [...settings, ...startCommand.nodeFlags].join(' ') || 'no flags';
}
