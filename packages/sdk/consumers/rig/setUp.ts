import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installChromium } from '@prism-gateway/testing/browser-set-up';
import { createPrisms, startProgram, startWorld } from '@prism-gateway/testing/world';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { TestProject } from 'vitest/node';
import { packPackages } from '../../../../scripts/packages/packPackages.ts';
import { createApp } from './createApp.ts';

/** An application's settings: where everything is, and who signs. */
export interface AppSettings {
  readonly gatewayUrl: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly forwarder: string;
  readonly cloud: string;
  /** Of a user with a prism, and without ether. */
  readonly privateKey: `0x${string}`;
  /** The prism. */
  readonly cloudId: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Paths of the tarballs. */
    readonly tarballs: readonly string[];
    /** Folder with the oldest Node and viem of the ranges, and the tarballs. */
    readonly oldApp: string;
    /** One for each application: two would wait for each other's nonces. */
    readonly settings: readonly AppSettings[];
  }
}

const ROOT = join(import.meta.dirname, '../../../..');
/** As many applications as write. */
const APPLICATIONS = 3;

/** The oldest of the ranges. */
export const OLD = { node: '20.20.2', viem: '2.30.0' };
const CREDITS = 1_000_000n * 10n ** 18n;

/** Packs the packages, and starts a devnet, a gateway and a relayer. @returns what ends them */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stack = new AsyncDisposableStack();
  try {
    installChromium();
    const folder = mkdtempSync(join(tmpdir(), 'prism-tarballs-'));
    stack.defer(() => rmSync(folder, { recursive: true }));
    const tarballs = packPackages(ROOT, folder).map(({ path }) => path);
    const old = stack.use(createApp());
    // The package `node` puts the binary in its place as it is installed, if npm lets it.
    writeFileSync(join(old.path, 'package.json'), '{"name":"old","type":"module","allowScripts":{"node":true}}');
    const installing = old.install(`node@${OLD.node}`, `viem@${OLD.viem}`, ...tarballs);
    installing.catch(() => undefined);
    const world = stack.use(await startWorld({ users: 0, relayers: 1 }));
    const relayer = await startProgram('relayer', { env: world.relayerEnv(0) });
    stack.defer(async () => void (await relayer.stop()));
    const { rpcUrl, chainId } = world.devnet;
    const { deployment, gateway } = world;
    const keys = Array.from({ length: APPLICATIONS }, () => generatePrivateKey());
    // The devnet has accounts.
    const chain = { rpcUrl, deployment, sponsorKey: world.devnet.privateKeys[0]! };
    const users = await createPrisms({
      ...chain,
      accounts: keys.map((key) => privateKeyToAccount(key)),
      credits: CREDITS,
    });
    const { forwarder, cloud } = deployment;
    const shared = { gatewayUrl: gateway.url, rpcUrl, chainId, forwarder, cloud };
    await installing;
    project.provide('oldApp', old.path);
    project.provide('tarballs', tarballs);
    // As many users as keys.
    project.provide(
      'settings',
      users.map(({ cloudId }, index) => ({ ...shared, cloudId, privateKey: keys[index]! })),
    );
    const owned = stack.move();
    return () => owned.disposeAsync();
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
