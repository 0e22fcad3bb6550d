// What is put in the place of the template's own `src/main.ts`: one write, signed and submitted from a page.
import './style.css';
import { cloudAbi } from '@prism-gateway/contracts';
import { createGatewayClient, createUserClient } from '@prism-gateway/sdk';
import { createPublicClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

interface Settings {
  readonly gatewayUrl: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly forwarder: Hex;
  readonly cloud: Hex;
  readonly privateKey: Hex;
  readonly cloudId: Hex;
}

const app = document.querySelector<HTMLDivElement>('#app')!;
const settings: Settings = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const { gatewayUrl, rpcUrl, chainId, forwarder, cloud, privateKey, cloudId } = settings;
const publicClient = createPublicClient({ transport: http(rpcUrl) });
const user = createUserClient({
  gateway: createGatewayClient({ url: gatewayUrl }),
  account: privateKeyToAccount(privateKey),
  publicClient,
  chainName: `eip155:${chainId}`,
  domain: { chainId, forwarder },
});

async function write(): Promise<string> {
  const dataId: Hex = `0x${'00'.repeat(31)}01`;
  const { wait } = await user.writeData({ cloudId, dataId, payload: '0x68656c6c6f', relayerFee: 5_000n * 10n ** 18n });
  const { status } = await wait({ timeoutMs: 120_000 });
  const args = [cloudId, dataId] as const;
  const payload = await publicClient.readContract({ address: cloud, abi: cloudAbi, functionName: 'dataOf', args });
  return JSON.stringify({ status, payload });
}

const outcome = await write().catch((error: unknown) => String(error));
app.innerHTML = '<output></output>';
app.querySelector('output')!.textContent = outcome;
