/** The page's program; `serve.ts` bundles it. */
import { cloudAbi } from '@prism-gateway/contracts';
import {
  createGatewayClient,
  createStorageClient,
  createUserClient,
  deriveCloudId,
  type Eip1193Provider,
  keepOnChain,
  signPermit,
  type UserClient,
} from '@prism-gateway/sdk';
import {
  type Address,
  createPublicClient,
  type Hex,
  hexToString,
  http,
  keccak256,
  parseAbi,
  parseEther,
  stringToHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** Settings that `serve.ts` gives to the page. */
interface PageSettings {
  readonly gatewayUrl: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly forwarder: Address;
  readonly cloud: Address;
  readonly creditToken: Address;
}

// A browser wallet announces itself here.
const { ethereum } = globalThis as { readonly ethereum?: Eip1193Provider };
// The page's own elements; a missing one is a mistake to be seen.
const find = <T extends HTMLElement>(id: string): T => document.querySelector<T>(`#${id}`)!;
const settings = (await (await fetch('/settings.json')).json()) as PageSettings;
const publicClient = createPublicClient({ transport: http(settings.rpcUrl) });
const gateway = createGatewayClient({ url: settings.gatewayUrl });
const relayerFee = parseEther('5000');
const encoder = new TextEncoder();

/** One for each way to sign, so that each has its nonces in order. */
function createUser(signer: { readonly provider: Eip1193Provider } | undefined): UserClient {
  const { chainId, forwarder } = settings;
  const shared = { gateway, publicClient, chainName: `eip155:${chainId}`, domain: { chainId, forwarder } };
  // Made for this visit; a real page would keep it, or use a wallet.
  return createUserClient({ ...shared, ...(signer ?? { account: privateKeyToAccount(generatePrivateKey()) }) });
}

const users = new Map<boolean, UserClient>();
function currentUser(): UserClient {
  const isInjected = find<HTMLInputElement>('injected').checked;
  const { chainId, rpcUrl } = settings;
  const add = {
    chainName: 'Devnet',
    rpcUrls: [rpcUrl],
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  };
  const wallet = isInjected && ethereum ? { provider: keepOnChain(ethereum, { chainId, add }) } : undefined;
  const user = users.get(isInjected) ?? createUser(wallet);
  users.set(isInjected, user);
  return user;
}

async function showAccount(): Promise<void> {
  find('account').textContent = await currentUser().getAddress();
}

/** Signs for credits to be pulled: what a page does after a card payment. */
async function fundPrism(user: UserClient, value: bigint) {
  const owner = (await user.getAddress()) as Address;
  await fetch('/credits', { method: 'POST', body: JSON.stringify({ address: owner }) });
  const abi = parseAbi(['function nonces(address owner) view returns (uint256)']);
  const { creditToken: address, forwarder: spender } = settings;
  const nonce = await publicClient.readContract({ address, abi, functionName: 'nonces', args: [owner] });
  const deadline = BigInt(Math.floor(Date.now() / 1000) + 3600);
  return await signPermit(user, { token: { address, name: 'Prism Credit' }, spender, value, nonce, deadline });
}

async function writeText(text: string): Promise<void> {
  const user = currentUser();
  const [output, fundAmount] = [find('written'), parseEther('100000')];
  output.textContent = 'Signing…';
  const salt = keccak256(crypto.getRandomValues(new Uint8Array(32)));
  const dataId = keccak256(stringToHex('note'));
  const permit = await fundPrism(user, fundAmount);
  const payloads = [stringToHex(text)];
  const input = { fundAmount, salt, permit, dataIds: [dataId], payloads, relayerFee };
  const { wait } = await user.createPrismWithData(input);
  const onStatus = ({ status }: { readonly status: string }) => (output.textContent = `The request is ${status}…`);
  const record = await wait({ pollIntervalMs: 250, timeoutMs: 60_000, onStatus });
  if (record.status !== 'success') throw new Error(`It failed: ${record.errorMessage}`);
  const cloudId = deriveCloudId({ signer: record.signer, salt });
  output.textContent = `${await readEntry(cloudId, dataId)}\n\nread back from the chain, transaction ${record.txHash}`;
}

async function readEntry(cloudId: Hex, dataId: Hex): Promise<string> {
  const call = { address: settings.cloud, abi: cloudAbi, functionName: 'dataOf', args: [cloudId, dataId] } as const;
  return hexToString(await publicClient.readContract(call));
}

/** Asks the page's own server, which knows who has signed in; a real page has its identity provider's token. */
async function getAccessToken(): Promise<string> {
  return await (await fetch('/token', { method: 'POST' })).text();
}

const storage = createStorageClient({
  gateway,
  projectId: `0x${'01'.repeat(16)}`,
  getAccessToken,
  encryptionKey: crypto.getRandomValues(new Uint8Array(32)),
});

async function keepText(text: string): Promise<void> {
  const output = find('kept');
  output.textContent = 'Encrypting…';
  const { key, size } = await storage.put(encoder.encode(text));
  const content = new TextDecoder().decode(await storage.get(key));
  output.textContent = `${content}\n\ndecrypted from ${size} stored bytes, key ${key}`;
}

/** Runs what a button stands for, and shows what went wrong. */
function bind(button: string, output: string, act: (text: string) => Promise<void>): void {
  const element = find<HTMLButtonElement>(button);
  element.disabled = false;
  element.addEventListener('click', () => {
    act(find<HTMLTextAreaElement>('text').value).catch((error: unknown) => {
      find(output).textContent = error instanceof Error ? error.message : String(error);
    });
  });
}

bind('write', 'written', writeText);
bind('keep', 'kept', keepText);
find<HTMLInputElement>('injected').disabled = ethereum === undefined;
find('injected').addEventListener('change', () => void showAccount());
await showAccount();
