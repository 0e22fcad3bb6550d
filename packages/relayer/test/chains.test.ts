import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cloudAbi, type Deployment } from '@prism-gateway/contracts';
import { deployContracts, startDevnet } from '@prism-gateway/devnet';
import { encryptKey } from '@prism-gateway/testing/keys';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import {
  createPrisms,
  type PrismUser,
  signWrite,
  startProgram,
  startWorld,
  type World,
} from '@prism-gateway/testing/world';
import { createPublicClient, http, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';

const CREDIT = 10n ** 18n;
const PASSWORD = 'only for this test';
const DATA_ID = numberToHex(7, { size: 32 });
const OTHER_CHAIN = { chainId: 31_338, chainName: 'eip155:31338' };

/** Signs a write of a chain's first user, and puts it into the queue. */
async function post(world: World, chain: { chainName: string; deployment: Deployment; user: PrismUser }) {
  const { chainName, deployment, user } = chain;
  const timestamp = BigInt(Math.floor(Date.now() / 1000));
  const wish = { dataId: DATA_ID, payload: '0xabcd', relayerFee: 3000n * CREDIT, nonce: 1n, timestamp } as const;
  const params = await signWrite(deployment, user, wish);
  return await world.client.submitRequest({ chainName, action: 'WRITE_DATA_FOR', params });
}

/** A node that takes calls and never answers. */
async function startSilentNode(): Promise<{ readonly rpcUrl: string } & AsyncDisposable> {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// Shows RELAY-14.
test('one process with a keystore serves several chains, although the node of one is silent', async () => {
  await using world = await startWorld({ users: 1, relayers: 1 });
  await using devnet = await startDevnet({ accounts: 2, chainId: OTHER_CHAIN.chainId });
  const { rpcUrl } = devnet;
  await using silent = await startSilentNode();
  // Both were asked for.
  const [sponsorKey, relayerKey] = [devnet.privateKeys[0]!, world.relayerKeys[0]!];
  const officialRelayers = [sponsorKey, relayerKey].map((key) => privateKeyToAccount(key).address);
  const deployment = await deployContracts({ rpcUrl, privateKey: sponsorKey, officialRelayers });
  const accounts = world.users.map(({ account }) => account);
  const [user] = await createPrisms({ rpcUrl, deployment, sponsorKey, accounts, credits: 1_000_000n * CREDIT });
  const chains = [
    { chainName: 'eip155:31337', rpcUrl: world.devnet.rpcUrl, deployment: world.deployment, user: world.users[0]! },
    { chainName: OTHER_CHAIN.chainName, rpcUrl, deployment, user: user! },
  ];

  const keystore = join(world.dir, 'key.json');
  await writeFile(keystore, encryptKey(relayerKey, PASSWORD));
  const { GATEWAY_URL, DATA_DIR, TMPDIR, CREDITS_PER_ETH } = world.relayerEnv(0) as Record<string, string>;
  const relayer = await startProgram('relayer', {
    env: {
      ...({ GATEWAY_URL, DATA_DIR, TMPDIR, CREDITS_PER_ETH } as Record<string, string>),
      RELAYER_KEYSTORE: keystore,
      RELAYER_KEYSTORE_PASSWORD: PASSWORD,
      RELAYER_CHAINS: JSON.stringify([
        { chainName: 'silent', rpcUrl: silent.rpcUrl, forwarder: world.deployment.forwarder },
        ...chains.map((chain) => ({
          chainName: chain.chainName,
          rpcUrl: chain.rpcUrl,
          forwarder: chain.deployment.forwarder,
          // This node makes blocks for transactions alone: no more of them would come.
          confirmations: 1,
        })),
      ]),
    },
  });
  try {
    for (const chain of chains) {
      const { requestId } = await post(world, chain);
      expect((await world.client.waitForRequest(requestId, { timeoutMs: TIMEOUT_MS })).status).toBe('success');
      const reader = createPublicClient({ transport: http(chain.rpcUrl) });
      const data = { abi: cloudAbi, functionName: 'dataOf', args: [chain.user.cloudId, DATA_ID] } as const;
      expect(await reader.readContract({ ...data, address: chain.deployment.cloud })).toBe('0xabcd');
    }
    const secrets = [PASSWORD, relayerKey.slice(2)];
    for (const secret of secrets) expect(relayer.output.some((line) => line.includes(secret))).toBe(false);
    expect(await relayer.stop()).toBe(0);
  } finally {
    await relayer.kill();
  }
});
