import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { onTestFinished } from 'vitest';
import { openTarget } from './openTarget.ts';
import { DEFAULT_LIMITS } from './readFacts.ts';
import type { Target } from './target.ts';

/** Settings of a gateway that one test starts for itself. */
export interface OwnSettings {
  readonly env?: Readonly<Record<string, string>>;
  /** Data directory to go on with. */
  readonly dataDir?: string;
  /** Relayers to whitelist; their calls count in the limits. */
  readonly relayerCount?: number;
  /** One of the keys in `env.ADMIN_API_KEY`. */
  readonly adminKey?: string;
}

/** A gateway of a test's own, stopped when the test ends. */
export interface Own {
  readonly gateway: RunningGateway;
  readonly target: Target;
}

async function stopOnce(gateway: RunningGateway): Promise<void> {
  if (gateway.process.exitCode === null && gateway.process.signalCode === null) await gateway.stop();
}

/** Starts a gateway with the settings of one test. */
export async function startOwn(settings: OwnSettings): Promise<Own> {
  return await start(settings, onTestFinished);
}

/** Starts a gateway for the tests of a file or a block. @returns how to reach it, and what a `beforeAll` returns to stop it */
export async function startShared(settings: OwnSettings): Promise<{ target: Target; stop: () => Promise<void> }> {
  const { gateway, target } = await start(settings, () => undefined);
  return { target, stop: () => stopOnce(gateway) };
}

async function start(
  { env = {}, dataDir, relayerCount = 0, adminKey }: OwnSettings,
  atEnd: (stop: () => Promise<void>) => void,
): Promise<Own> {
  const gateway = await startGateway({ env, ...(dataDir !== undefined && { dataDir }) });
  atEnd(() => stopOnce(gateway));
  const facts = { url: gateway.url, adminKey: adminKey ?? gateway.adminKey, tokens: [], ...DEFAULT_LIMITS };
  return { gateway, target: await openTarget(facts, relayerCount) };
}

/** Makes a data directory for gateways that follow each other; it is removed when the test ends. */
export async function makeDataDir(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'prism-acceptance-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
