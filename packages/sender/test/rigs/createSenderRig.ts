import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Anvil, type AnvilOptions, startAnvil } from '@prism-gateway/testing';
import { type Address, type Hex, keccak256, type PrivateKeyAccount, stringToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Call, openSender, type Sender, type SenderEvent, type SenderOptions } from '../../src/index.ts';

/** Where test calls go; nobody has its key. */
const SINK: Address = '0x00000000000000000000000000000000005eeded';

/** Covers a transfer with 32 bytes of calldata. */
export const MARK_GAS = 60_000n;

/** A call that bears the intent's name, so that it can be found on the chain. */
export function markedCall(intentId: string, value = 1n): Call {
  return { to: SINK, data: keccak256(stringToHex(intentId)), value, gasLimit: MARK_GAS };
}

/** A call that no node takes: no transaction costs as little as its gas limit. */
export function badCall(intentId: string): Call {
  return { ...markedCall(intentId), gasLimit: 20_000n };
}

/** An account, its journal and its locks on a chain. */
export interface SenderRig {
  readonly anvil: Anvil;
  readonly privateKey: Hex;
  readonly account: PrivateKeyAccount;
  readonly dir: string;
  readonly events: SenderEvent[];
  readonly options: SenderOptions;
  /** Opens a sender, which is closed with the rig. */
  open(options?: Partial<SenderOptions>): Promise<Sender>;
  /** How often the call of an intent is on the chain. */
  countMined(intentId: string): Promise<number>;
  /** The account's transaction count. */
  accountNonce(): Promise<number>;
  /** Waits until an event of a type has come; earlier ones count. */
  seen<T extends SenderEvent['type']>(type: T): Promise<Extract<SenderEvent, { type: T }>>;
  dispose(): Promise<void>;
}

/** Counts a mark in all blocks. */
async function countMark(anvil: Anvil, mark: Hex): Promise<number> {
  const head = Number(await anvil.rpc('eth_blockNumber'));
  const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`);
  const blocks = await Promise.all(numbers.map((number) => anvil.rpc('eth_getBlockByNumber', [number, true])));
  // Anvil's blocks have this form.
  const transactions = blocks.flatMap((block) => (block as { transactions: { input: string }[] }).transactions);
  return transactions.filter(({ input }) => input === mark).length;
}

/**
 * Makes an account with 100 ether of its own, and senders for it.
 *
 * @param anvil - the chain, shared or not
 * @returns the rig
 */
export async function createSenderRig(anvil: Anvil): Promise<SenderRig> {
  const dir = await mkdtemp(join(tmpdir(), 'sender-'));
  const privateKey = generatePrivateKey();
  const account = privateKeyToAccount(privateKey);
  await anvil.rpc('anvil_setBalance', [account.address, '0x56bc75e2d63100000']);
  const events: SenderEvent[] = [];
  const listeners = new Set<() => void>();
  const onEvent = (event: SenderEvent) => {
    events.push(event);
    for (const listener of listeners) listener();
  };
  const base = { journalPath: join(dir, 'journal.sqlite'), rpcUrl: anvil.rpcUrl, account, lockDir: dir };
  const options: SenderOptions = { ...base, pollIntervalMs: 20, rpcTimeoutMs: 1000, onEvent };
  const senders: Sender[] = [];
  return {
    anvil,
    privateKey,
    account,
    dir,
    events,
    options,
    async open(more = {}) {
      const sender = await openSender({ ...options, ...(more.now && { monotonicNow: more.now }), ...more });
      senders.push(sender);
      return sender;
    },
    countMined: (intentId) => countMark(anvil, keccak256(stringToHex(intentId))),
    accountNonce: async () => Number(await anvil.rpc('eth_getTransactionCount', [account.address, 'latest'])),
    seen: (type) =>
      new Promise((resolve) => {
        const look = () => {
          const event = events.find((one) => one.type === type);
          if (event === undefined) return;
          listeners.delete(look);
          // Its type has just been seen.
          resolve(event as Extract<SenderEvent, { type: typeof type }>);
        };
        listeners.add(look);
        look();
      }),
    async dispose() {
      await Promise.all(senders.map((sender) => sender.close()));
      await rm(dir, { recursive: true });
    },
  };
}

/** Starts a chain with one rig on it. */
export async function startSenderRig(options: AnvilOptions = {}): Promise<SenderRig> {
  const rig = await createSenderRig(await startAnvil(options));
  return {
    ...rig,
    async dispose() {
      await rig.dispose();
      await rig.anvil.stop();
    },
  };
}
