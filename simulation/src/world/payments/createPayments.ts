/** Card payments in the world: contracts, frontends, payment relayers, gas monitor, and the operators' chat. */
import { creditTokenAbi, type Deployment, exchangeAbi, payoutsAbi, stablecoinAbi } from '@prism-gateway/contracts';
import { payoutsBytecode } from '@prism-gateway/contracts/bytecode';
import {
  type Address,
  createPublicClient,
  createWalletClient,
  decodeEventLog,
  type Hex,
  http,
  keccak256,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Chain } from '../../chain/index.ts';
import type { Realm } from '../../core/realm.ts';
import type { RelayerKey } from '../createWorld.ts';
import { createGasMonitorService, createPaymentsService, type PaymentsService, type Service } from '../programs.ts';
import { type Frontend, startFrontend } from './frontend.ts';
import type { ChatMessage, PaymentStory } from './story.ts';

/** One way to be installed: a frontend, and the instances that serve it. */
export interface Installation {
  /** `plain`: one instance with plain transfers; `contract`: two through `Payouts`. */
  readonly kind: 'plain' | 'contract';
  readonly frontend: Frontend;
  readonly payers: readonly Payer[];
}

/** A payment relayer. */
export interface Payer {
  readonly service: PaymentsService;
  readonly key: RelayerKey;
  /** Name of its node. */
  readonly node: string;
  /** Its journal was lost or came from a backup: what it spent is no longer all in it. */
  hasLostBooks: boolean;
}

/** A sale of the Exchange, in the chain as it is. */
export interface Purchase {
  readonly txHash: string;
  readonly buyer: string;
  readonly stablecoins: bigint;
  readonly credits: bigint;
}

export interface Payments {
  readonly installations: readonly Installation[];
  /** A second instance at the first shop, with a key that nobody has named to the other; it is started by mistake. */
  readonly unnamed: Payer;
  readonly monitor: Service;
  /** By intent. */
  readonly stories: Map<string, PaymentStory>;
  readonly byWallet: Map<string, PaymentStory>;
  readonly purchases: Purchase[];
  readonly chat: ChatMessage[];
}

/** Stablecoin base units that each payment relayer begins with. */
export const FIRST_BALANCE = 10n ** 12n;
/** Place of the key of the instance that nobody has named; how many keys of payment relayers there are. */
const UNNAMED = 3;
export const PAYER_KEYS = 4;
const CHAT_URL = 'http://chat:80/hook';

interface Setting {
  readonly realm: Realm;
  readonly chain: Chain;
  readonly deployment: Deployment;
  readonly rpcUrl: string;
  readonly sponsorKey: Hex;
  readonly keys: readonly RelayerKey[];
  readonly nodes: readonly string[];
}

/** Gives the payment relayers stablecoins, and deploys `Payouts` for those that need it. */
async function prepareContracts({ deployment, rpcUrl, sponsorKey, keys }: Setting): Promise<Address> {
  const account = privateKeyToAccount(sponsorKey);
  const transport = http(rpcUrl);
  const client = createPublicClient({ transport, pollingInterval: 500 });
  const wallet = createWalletClient({ account, transport });
  const payers = keys.slice(1, UNNAMED).map(({ address }) => address);
  const args = [account.address, deployment.creditToken, keccak256(toHex('frontend')), payers] as const;
  const deployed = await wallet.deployContract({ abi: payoutsAbi, bytecode: payoutsBytecode, args, chain: null });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash: deployed });
  for (const { address } of keys) {
    const mint = { address: deployment.stablecoin, abi: stablecoinAbi, functionName: 'mint' } as const;
    const hash = await wallet.writeContract({ ...mint, args: [address, FIRST_BALANCE], chain: null });
    await client.waitForTransactionReceipt({ hash });
  }
  // A deployment that was mined has one.
  return contractAddress as Address;
}

/** Keeps what the Exchange sells and what arrives in payments' wallets, in the chain as it is. */
function followPayments({ realm, chain, deployment, keys }: Setting, payments: Payments): void {
  const exchange = deployment.exchange.toLowerCase();
  const creditToken = deployment.creditToken.toLowerCase();
  const removeFrom = (list: { readonly txHash: string }[], hash: string) => {
    const at = list.findIndex(({ txHash }) => txHash === hash);
    if (at >= 0) list.splice(at, 1);
  };
  const own = new Set(keys.map(({ address }) => address.toLowerCase()));
  chain.onBlock(({ kind, block }) => {
    for (const { hash, from, logs, isSuccess, gasUsed, revertData } of block.transactions) {
      if (!isSuccess && own.has(from)) {
        const text = `transaction ${hash} was reverted with ${revertData ?? 'nothing'}, gas ${gasUsed}`;
        realm.log.add({ kind: 'chain', who: from, text, about: [hash] });
      }
      for (const { address, topics, data } of logs) {
        // As viem has topics.
        const log = { topics: topics as [Hex, ...Hex[]], data };
        if (address === exchange) {
          const { eventName, args } = decodeEventLog({ abi: exchangeAbi, ...log });
          if (eventName !== 'CreditsBought') continue;
          const { buyer, stablecoinAmount: stablecoins, creditAmount: credits } = args;
          if (kind === 'removed') removeFrom(payments.purchases, hash);
          else payments.purchases.push({ txHash: hash, buyer: buyer.toLowerCase(), stablecoins, credits });
        }
        if (address !== creditToken || topics.length !== 3) continue;
        const story = payments.byWallet.get(`0x${topics[2]?.slice(26)}`);
        if (story === undefined) continue;
        const { eventName, args } = decodeEventLog({ abi: creditTokenAbi, ...log });
        if (eventName !== 'Transfer') continue;
        if (kind === 'removed') removeFrom(story.payouts, hash);
        else story.payouts.push({ txHash: hash, from, credits: args.value, blockNumber: block.number });
        const text = `payout ${hash} of ${args.value} is ${kind === 'added' ? 'in' : 'taken out of'} block ${block.number}`;
        realm.log.add({ kind: 'chain', who: from, text, about: [story.id] });
      }
    }
  });
}

/** The chat that all alerts go to. */
function serveChat({ realm }: Setting, chat: ChatMessage[], stories: Payments['stories']): void {
  realm.network.listen('chat:80', async ({ request, from }) => {
    const { text } = (await request.json()) as { readonly text: string };
    chat.push({ atMs: realm.clock.now(), from, text });
    const about = (text.match(/\bpi_\w+/g) ?? []).filter((id) => stories.has(id));
    realm.log.add({ kind: 'alert', who: from, text: text.replaceAll('\n', ' '), about: [...new Set(about)] });
    return new Response('ok');
  });
}

/**
 * Builds what card payments need, and the programs, which are not started yet. Blocks must be made meanwhile.
 *
 * @param setting.keys - the first is of the plain installation, two of the one with the contract, the last of the unnamed instance
 */
export async function createPayments(setting: Setting): Promise<Payments> {
  const { realm, deployment, keys, nodes } = setting;
  const payouts = await prepareContracts(setting);
  const shared = {
    EXCHANGE_ADDRESS: deployment.exchange,
    CREDIT_TOKEN_ADDRESS: deployment.creditToken,
    STABLECOIN_ADDRESS: deployment.stablecoin,
    ALERT_CHAT_WEBHOOK_URL: CHAT_URL,
    METRICS_PORT: '9466',
  };
  const nodeOf = (index: number) => nodes[index % nodes.length] ?? '';
  const createPayer = (index: number, frontend: Frontend, more: Record<string, string>): Payer => {
    const key = keys[index] as RelayerKey;
    const service = createPaymentsService(realm, `payer-${index + 1}`, {
      ...shared,
      ...more,
      FRONTEND_URL: frontend.url,
      RELAYER_SECRET: frontend.secret,
      RELAYER_PRIVATE_KEY: key.key,
      RPC_URL: `http://${nodeOf(index)}:8545`,
    });
    return { service, key, node: nodeOf(index), hasLostBooks: false };
  };
  const [plain, contract] = [await startFrontend(realm, 'shop-1'), await startFrontend(realm, 'shop-2')];
  const others = keys.slice(1, UNNAMED).map(({ address }) => address);
  const severally = { PAYOUTS_ADDRESS: payouts, RELAYER_ADDRESSES: others.join(',') };
  const payments: Payments = {
    installations: [
      { kind: 'plain', frontend: plain, payers: [createPayer(0, plain, {})] },
      {
        kind: 'contract',
        frontend: contract,
        payers: others.map((_, index) => createPayer(index + 1, contract, severally)),
      },
    ],
    unnamed: createPayer(UNNAMED, plain, {}),
    monitor: createGasMonitorService(realm, {
      RPC_URL: `http://${nodeOf(0)}:8545`,
      RELAYER_ADDRESSES: keys.map(({ address }) => address).join(','),
      STABLECOIN_ADDRESS: deployment.stablecoin,
      EXCHANGE_ADDRESS: deployment.exchange,
      INSTANCE_NAME: 'monitor',
      ALERT_CHAT_WEBHOOK_URL: CHAT_URL,
    }),
    stories: new Map(),
    byWallet: new Map(),
    purchases: [],
    chat: [],
  };
  followPayments(setting, payments);
  serveChat(setting, payments.chat, payments.stories);
  return payments;
}

/** All payment relayers. */
export const payersOf = ({ installations }: Payments): readonly Payer[] =>
  installations.flatMap(({ payers }) => payers);
