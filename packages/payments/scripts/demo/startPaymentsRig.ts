import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { creditTokenAbi, type Deployment, exchangeAbi, payoutsAbi, stablecoinAbi } from '@prism-gateway/contracts';
import { payoutsBytecode } from '@prism-gateway/contracts/bytecode';
import { deployContracts, startDevnet } from '@prism-gateway/devnet';
import { createTurns } from '@prism-gateway/node';
import {
  type Abi,
  type Address,
  createTestClient,
  createWalletClient,
  getAddress,
  type Hex,
  http,
  publicActions,
  zeroHash,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describeTransaction } from '../../src/chain/describeTransaction.ts';
import { hashFrontendId } from '../../src/payerConfig.ts';
import { type ReferenceFrontend, startReferenceFrontend } from '../../src/referenceFrontend/startReferenceFrontend.ts';

/** A relayer's key and address, with ether and stablecoins. */
export interface RigKey {
  readonly privateKey: Hex;
  readonly address: Address;
}

/** A devnet with contracts, and a reference frontend. */
export interface PaymentsRig extends AsyncDisposable {
  readonly rpcUrl: string;
  readonly deployment: Deployment;
  readonly frontend: ReferenceFrontend;
  readonly secret: string;
  readonly dir: string;
  readonly client: ReturnType<typeof createClient>;
  /** Milliseconds of a claim's lease; may be changed. */
  lease: { ms: number };
  /** Starts one more frontend, with payments of its own. */
  startFrontend(): Promise<ReferenceFrontend>;
  fundKey(): Promise<RigKey>;
  /** Adds a payment to a wallet of its own. */
  addPayment(
    stablecoinAmount: bigint,
    frontend?: ReferenceFrontend,
  ): { readonly paymentIntentId: string; readonly walletAddress: Address };
  /** Transfers credits of the deployment, without any payout id. */
  giveCredits(address: Address, amount: bigint): Promise<void>;
  creditsOf(address: Address): Promise<bigint>;
  /** Payouts on the chain with a payout id, by whomever. */
  findPayouts(payoutId: Hex): Promise<readonly { readonly hash: Hex; readonly from: Address }[]>;
  countPayouts(payoutId: Hex): Promise<number>;
  setRate(rate: bigint): Promise<void>;
  /** Deploys the contract through which these may pay. */
  deployPayouts(payers: readonly Address[]): Promise<Address>;
  /** Lets an address pay for a frontend of that name; without one, no longer. */
  setPayer(payouts: Address, payer: Address, frontend?: string): Promise<void>;
  /** Runs work while no empty block is mined: Anvil loses a block that is mined within a reorganisation. */
  betweenBlocks<T>(work: () => Promise<T>): Promise<T>;
  /** Deploys any contract, by the deployer. */
  deploy(contract: { readonly abi: Abi; readonly bytecode: Hex; readonly args: readonly unknown[] }): Promise<Address>;
  /** The settings of an instance; fast. */
  settingsFor(key: RigKey, others?: readonly Address[], target?: ReferenceFrontend): Record<string, string>;
  close(): Promise<void>;
}

/** The secret that the reference frontend knows relayers by. */
const SECRET = 'a-secret-of-the-rig';
const STABLECOINS = 1_000_000_000_000n;

function createClient(rpcUrl: string) {
  return createTestClient({ mode: 'anvil', transport: http(rpcUrl) }).extend(publicActions);
}

/** Mines a block now and then; with `inTurn`, not while other work does. */
function startHeartbeat(client: ReturnType<typeof createClient>, intervalMs: number) {
  const inTurn = createTurns();
  const stopping = new AbortController();
  const { signal } = stopping;
  const beating = (async () => {
    while (!signal.aborted) {
      await inTurn(() => client.mine({ blocks: 1 })).catch(() => undefined);
      await pause(intervalMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    inTurn,
    async stop() {
      stopping.abort();
      await beating;
    },
  };
}

/** Starts a devnet, the contracts and a reference frontend. */
export async function startPaymentsRig(
  options: {
    readonly blockTimeMs?: number;
    readonly leaseMs?: number;
    /** Between two empty blocks, which give depth to what is mined at once. */
    readonly heartbeatMs?: number;
    /** Of a block; a chain with another one has another first block. */
    readonly gasLimit?: number;
  } = {},
): Promise<PaymentsRig> {
  const dir = mkdtempSync(join(tmpdir(), 'payments-'));
  const devnet = await startDevnet(options);
  const { rpcUrl, privateKeys } = devnet;
  // There are ten.
  const deployer = privateKeys[0] as Hex;
  const deployment = await deployContracts({ rpcUrl, privateKey: deployer });
  const lease = { ms: options.leaseMs ?? 60_000 };
  const frontend = await startReferenceFrontend({
    file: join(dir, 'frontend.db'),
    secret: SECRET,
    leaseMs: () => lease.ms,
  });
  const client = createClient(rpcUrl);
  const wallet = createWalletClient({ account: privateKeyToAccount(deployer), transport: http(rpcUrl) });
  const { creditToken, stablecoin, exchange } = deployment;
  const inTurn = createTurns();
  let payments = 0;
  const extras = new Set<ReferenceFrontend>();
  let frontends = 0;
  const heartbeat = startHeartbeat(client, options.heartbeatMs ?? 50);

  const deploy: PaymentsRig['deploy'] = (contract) =>
    inTurn(async () => {
      const hash = await wallet.deployContract({ ...contract, chain: null });
      const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
      if (!contractAddress) throw new Error('the contract was not deployed');
      return getAddress(contractAddress);
    });

  /** Transactions read so far: their bytes stay the same, whether or not a reorganisation undoes them. */
  const read = new Map<Hex, { readonly hash: Hex; readonly from: Address; readonly payoutId: Hex | undefined }>();

  async function readPayout(hash: Hex) {
    const transaction = await client.getTransaction({ hash });
    const described = describeTransaction(transaction, creditToken);
    return { hash, from: transaction.from, payoutId: described?.payoutId };
  }

  async function findPayouts(payoutId: Hex) {
    // All of the token's, not decoded: viem would hash the event's name for each.
    const logs = await client.getLogs({ address: creditToken, fromBlock: 0n });
    const hashes = [...new Set(logs.map((log) => log.transactionHash))];
    for (const hash of hashes) if (!read.has(hash)) read.set(hash, await readPayout(hash));
    return hashes.flatMap((hash) => read.get(hash) ?? []).filter((payout) => payout.payoutId === payoutId);
  }

  const close = async () => {
    await heartbeat.stop();
    for (const extra of extras) await extra.close();
    await frontend.close();
    await devnet.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return {
    rpcUrl,
    deployment,
    frontend,
    secret: SECRET,
    dir,
    client,
    lease,
    async startFrontend() {
      const extra = await startReferenceFrontend({
        file: join(dir, `frontend-${++frontends}.db`),
        secret: SECRET,
        leaseMs: () => lease.ms,
      });
      extras.add(extra);
      return {
        ...extra,
        async close() {
          if (extras.delete(extra)) await extra.close();
        },
      };
    },
    // One at a time: they share the deployer's account nonce.
    fundKey: () =>
      inTurn(async () => {
        const privateKey = generatePrivateKey();
        const { address } = privateKeyToAccount(privateKey);
        await client.setBalance({ address, value: 10n ** 20n });
        const mint = {
          address: stablecoin,
          abi: stablecoinAbi,
          functionName: 'mint',
          args: [address, STABLECOINS],
        } as const;
        const hash = await wallet.writeContract({ ...mint, chain: null });
        await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
        return { privateKey, address };
      }),
    addPayment(stablecoinAmount, target = frontend) {
      const paymentIntentId = `pi_${++payments}_${randomBytes(6).toString('hex')}`;
      const walletAddress = getAddress(`0x${randomBytes(20).toString('hex')}`);
      target.store.add({ paymentIntentId, walletAddress, stablecoinAmount: `${stablecoinAmount}` });
      return { paymentIntentId, walletAddress };
    },
    giveCredits: (address, amount) =>
      inTurn(async () => {
        const call = {
          address: creditToken,
          abi: creditTokenAbi,
          functionName: 'transfer',
          args: [address, amount],
        } as const;
        const hash = await wallet.writeContract({ ...call, chain: null });
        await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
      }),
    creditsOf: (address) =>
      client.readContract({ address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf', args: [address] }),
    findPayouts,
    countPayouts: async (payoutId) => (await findPayouts(payoutId)).length,
    setRate: (rate) =>
      inTurn(async () => {
        const call = { address: exchange, abi: exchangeAbi, functionName: 'setRate', args: [rate] } as const;
        const hash = await wallet.writeContract({ ...call, chain: null });
        await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
      }),
    betweenBlocks: heartbeat.inTurn,
    deploy,
    deployPayouts: (payers) =>
      deploy({
        abi: payoutsAbi,
        bytecode: payoutsBytecode,
        args: [wallet.account.address, creditToken, hashFrontendId('the rig'), payers],
      }),
    setPayer: (address, payer, name) =>
      inTurn(async () => {
        const args = [payer, name === undefined ? zeroHash : hashFrontendId(name)] as const;
        const call = { address, abi: payoutsAbi, functionName: 'setPayer', args } as const;
        const hash = await wallet.writeContract({ ...call, chain: null });
        await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
      }),
    settingsFor: (key, others = [], target = frontend) => ({
      FRONTEND_URL: target.url,
      RELAYER_SECRET: SECRET,
      RPC_URL: rpcUrl,
      RELAYER_PRIVATE_KEY: key.privateKey,
      RELAYER_ADDRESSES: others.join(','),
      EXCHANGE_ADDRESS: exchange,
      CREDIT_TOKEN_ADDRESS: creditToken,
      STABLECOIN_ADDRESS: stablecoin,
      POLL_INTERVAL_MS: '100',
      RETRY_DELAY_MS: '100',
      RPC_POLL_INTERVAL_MS: '50',
      RPC_TIMEOUT_MS: '1000',
      BUMP_AFTER_MS: '1000',
      DATA_DIR: join(dir, key.address),
      LOG_LEVEL: 'debug',
    }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
