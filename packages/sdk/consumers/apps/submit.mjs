// A program as a user would write it: one write, signed and submitted, and its outcome awaited.
import { cloudAbi } from '@prism-gateway/contracts';
import { createGatewayClient, createUserClient } from '@prism-gateway/sdk';
import { createPublicClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { gatewayUrl, rpcUrl, chainId, forwarder, cloud, privateKey, cloudId } = JSON.parse(process.argv[2]);
const publicClient = createPublicClient({ transport: http(rpcUrl) });
const user = createUserClient({
  gateway: createGatewayClient({ url: gatewayUrl }),
  account: privateKeyToAccount(privateKey),
  publicClient,
  chainName: `eip155:${chainId}`,
  domain: { chainId, forwarder },
});
const dataId = `0x${'00'.repeat(31)}01`;
const { wait } = await user.writeData({ cloudId, dataId, payload: '0x68656c6c6f', relayerFee: 5_000n * 10n ** 18n });
const { status } = await wait({ timeoutMs: 120_000 });
const payload = await publicClient.readContract({
  address: cloud,
  abi: cloudAbi,
  functionName: 'dataOf',
  args: [cloudId, dataId],
});
console.log(JSON.stringify({ node: process.version, status, payload }));
