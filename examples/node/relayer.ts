/** `npx prism example:relayer`: a relayer in a hundred lines. The real one is `npm run relayer`. */
import { setTimeout as pause } from 'node:timers/promises';
import { encodeForwarderCall, readRequestExecuted } from '@prism-gateway/contracts';
import { createAdminClient, createGatewayClient, createRelayerClient, isGatewayError } from '@prism-gateway/sdk';
import { connectChain, officialRelayer, readDevnet } from './devnet.ts';

type Relayer = ReturnType<typeof createRelayerClient>;
type Pending = Parameters<typeof encodeForwarderCall>[0] & { readonly requestId: string };

const devnet = await readDevnet();
const { publicClient, createWallet } = connectChain(devnet);
const wallet = createWallet(officialRelayer);

/** Sends a request to the Forwarder. @returns the transaction, once the Forwarder has said that it was carried out */
async function execute(request: Pending): Promise<string> {
  const { data } = encodeForwarderCall(request);
  // A revert costs nothing here, and gas there. The node's block may be older than the request; a second later it is not.
  const call = { to: devnet.forwarder, data };
  const estimate = () => publicClient.estimateGas({ ...call, account: officialRelayer, blockTag: 'pending' });
  const gas = await estimate().catch(() => pause(1000).then(estimate));
  const hash = await wallet.sendTransaction({ ...call, gas: (gas * 6n) / 5n });
  const { logs } = await publicClient.waitForTransactionReceipt({ hash });
  const events = readRequestExecuted({ logs, forwarder: devnet.forwarder });
  if (!events.some(({ success }) => success)) throw new Error('The Forwarder did not carry it out.');
  return hash;
}

function explain(error: unknown): string {
  // viem puts the essence first.
  const [line = 'unknown'] = String(error instanceof Error ? error.message : error).split('\n');
  return line.slice(0, 1000);
}

/** Claims a request, carries it out, and reports; another relayer may be faster. */
async function relay(relayer: Relayer, request: Pending): Promise<void> {
  const { requestId, action } = request;
  try {
    await relayer.claim(requestId);
  } catch (error) {
    if (isGatewayError(error, 'CONFLICT')) return;
    throw error;
  }
  try {
    const hash = await execute(request);
    await relayer.reportSuccess(requestId, hash);
    console.log(`${action} ${requestId} is on the chain by ${hash}`);
  } catch (error) {
    await relayer.reportFailure(requestId, explain(error));
    console.log(`${action} ${requestId} failed: ${explain(error)}`);
  }
}

/** Takes what is pending, oldest first, until it is stopped. */
async function run(signal: AbortSignal): Promise<void> {
  const gateway = createGatewayClient({ url: process.env.GATEWAY_URL ?? 'http://127.0.0.1:8787' });
  // An administrator does this once; here the development key is known.
  const admin = createAdminClient({ gateway, adminKey: process.env.ADMIN_API_KEY ?? 'change-me-admin-key' });
  await admin.addRelayer({ address: officialRelayer.address, label: 'example' });
  const relayer = createRelayerClient({ gateway, account: officialRelayer });
  console.log(`Relaying as ${relayer.address}`);
  while (!signal.aborted) {
    for await (const request of relayer.list(
      { status: 'pending', chainName: `eip155:${devnet.chainId}` },
      { signal },
    )) {
      await relay(relayer, request);
    }
    await pause(250, undefined, { signal });
  }
}

const stop = new AbortController();
process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
await run(stop.signal).catch((error: unknown) => {
  if (!stop.signal.aborted) throw error;
});
