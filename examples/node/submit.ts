/** `npx prism example:submit`: a user without ether or gas writes to the chain, and keeps a file that nobody else can read. */
import { cloudAbi, creditTokenAbi } from '@prism-gateway/contracts';
import {
  createGatewayClient,
  createStorageClient,
  createUserClient,
  deriveCloudId,
  type Submission,
  signPermit,
} from '@prism-gateway/sdk';
import { type Hex, hexToString, keccak256, parseEther, stringToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { connectChain, giveCredits, readDevnet } from './devnet.ts';

const url = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8787';
const devnet = await readDevnet();
const { publicClient } = connectChain(devnet);
const gateway = createGatewayClient({ url });

// A wallet that has never held any ether.
const account = privateKeyToAccount(generatePrivateKey());
const user = createUserClient({
  gateway,
  account,
  publicClient,
  chainName: `eip155:${devnet.chainId}`,
  domain: { chainId: devnet.chainId, forwarder: devnet.forwarder },
});

const relayerFee = parseEther('5000');
const salt = keccak256(stringToHex(`example ${Date.now()}`));
const cloudId = deriveCloudId({ signer: account.address, salt });
const dataId = keccak256(stringToHex('greeting'));

/** Waits for a request, and ends the example if it failed. */
async function finish({ record, wait }: Submission): Promise<void> {
  const { status, txHash, errorMessage } = await wait({ timeoutMs: 30_000, pollIntervalMs: 200 });
  if (status !== 'success') throw new Error(`${record.action} failed: ${errorMessage}`);
  console.log(`${record.action} is on the chain by ${txHash}`);
}

/** A prism and its first entry in one transaction, paid for with credits by a signature. */
async function createPrism(): Promise<void> {
  const fundAmount = parseEther('100000');
  await giveCredits(devnet, account.address, fundAmount);
  const nonces = { address: devnet.creditToken, abi: creditTokenAbi, functionName: 'nonces' } as const;
  const permit = await signPermit(user, {
    token: { address: devnet.creditToken, name: 'Prism Credit' },
    spender: devnet.forwarder,
    value: fundAmount,
    nonce: await publicClient.readContract({ ...nonces, args: [account.address] }),
    deadline: BigInt(Math.floor(Date.now() / 1000) + 3600),
  });
  const payloads = [stringToHex('hello')];
  await finish(await user.createPrismWithData({ fundAmount, salt, permit, dataIds: [dataId], payloads, relayerFee }));
}

/** Several requests at once: each is signed with the next nonce. */
async function writeMore(): Promise<void> {
  const texts = ['one', 'two', 'three'];
  const write = (text: string) =>
    user.writeData({ cloudId, dataId: keccak256(stringToHex(text)), payload: stringToHex(text), relayerFee });
  const submitted = await Promise.all(texts.map(write));
  for (const submission of submitted) await finish(submission);
  await finish(await user.modifyData({ cloudId, dataId, payload: stringToHex('hello, world'), relayerFee }));
}

async function readEntry(id: Hex): Promise<string> {
  const call = { address: devnet.cloud, abi: cloudAbi, functionName: 'dataOf', args: [cloudId, id] } as const;
  return hexToString(await publicClient.readContract(call));
}

/** Gets a token of the gateway's development issuer; a real application has its identity provider's. */
async function getAccessToken(): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/dev/identity/token`, { method: 'POST', headers, body: '{"sub":"ada"}' });
  const { access_token } = (await answer.json()) as { readonly access_token: string };
  return access_token;
}

/** Keeps an object, encrypted before it leaves this machine. */
async function keepFile(): Promise<void> {
  const encryptionKey = crypto.getRandomValues(new Uint8Array(32));
  const projectId = `0x${'01'.repeat(16)}`;
  const storage = createStorageClient({ gateway, projectId, getAccessToken, encryptionKey });
  const { key, size } = await storage.put(new TextEncoder().encode('a diary'));
  console.log(`Stored ${size} bytes as ${key}`);
  console.log(`They are: ${new TextDecoder().decode(await storage.get(key))}`);
  await storage.delete(key);
}

await createPrism();
await writeMore();
console.log(`The chain says: ${await readEntry(dataId)}`);
await keepFile();
