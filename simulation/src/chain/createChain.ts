import { type Address, type Hash, type Hex, numberToHex, zeroAddress, zeroHash } from 'viem';
import type { Chain, ChainOptions, Market, MineOptions, ReorganiseOptions } from './chain.ts';
import { createBranches } from './createBranches.ts';
import { createExecutor, keyOf, type Machine, type Message, type Outcome, toBytes } from './evm/createExecutor.ts';
import { smaller } from './evm/intrinsicGas.ts';
import { computeNextBaseFee, ELASTICITY, priceAt } from './fees.ts';
import { type Crypto, loadCrypto } from './loadCrypto.ts';
import { createMethods } from './node/createMethods.ts';
import { createDispatch, createNode } from './node/createNode.ts';
import type { NodePorts } from './node/ports.ts';
import { createPool, type PoolEntry } from './pool/createPool.ts';
import { createReadTransaction } from './readTransaction.ts';
import type { BlockEnvironment, BlockRecord, LogRecord, SignedTransaction, TransactionRecord } from './records.ts';
import { createBlooms, EMPTY_BLOOM, EMPTY_ROOT, sealBlock } from './sealBlock.ts';
import { type AccountState, createWorldState, type Key, NOTHING, type StateChanges } from './state/createWorldState.ts';

const GWEI = 10n ** 9n;
const GAS_LIMIT = 30_000_000n;
const DEFAULT_FEE_RECIPIENT: Address = '0x00000000000000000000000000000000000b10c5';

function drawWord(random: () => number): Hex {
  let word = '0x';
  // 32 bits of a draw are sure to be random.
  for (let part = 0; part < 8; part++) {
    word += Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  }
  return word as Hex;
}

/** A block without content. */
function draft(
  fields: Pick<BlockRecord, 'number' | 'parent' | 'timestampSeconds' | 'baseFeePerGas' | 'gasLimit'> & {
    readonly feeRecipient: Address;
    readonly prevRandao: Hex;
    readonly market: BlockRecord['market'];
  },
): BlockRecord {
  return {
    ...fields,
    parentHash: fields.parent?.hash ?? zeroHash,
    hash: zeroHash,
    gasUsed: 0n,
    stateRoot: zeroHash,
    transactionsRoot: EMPTY_ROOT,
    receiptsRoot: EMPTY_ROOT,
    logsBloom: EMPTY_BLOOM,
    transactions: [],
    logs: [],
  };
}

const toMessage = (signed: SignedTransaction, gasPrice: bigint): Message => ({
  ...signed,
  data: toBytes(signed.data),
  gasPrice,
});

/** The state of the first block. */
function readGenesis({ accounts = {} }: ChainOptions, { keccak256 }: Crypto): StateChanges {
  const states = new Map<Key, AccountState>();
  for (const [address, { balance = 0n, nonce = 0, code = '0x' }] of Object.entries(accounts)) {
    const bytes = toBytes(code);
    const account = { balance, nonce: BigInt(nonce), code: bytes, codeHash: keccak256(bytes) };
    // The record's keys are addresses.
    states.set(keyOf(address as Address), account);
  }
  return { accounts: states, storage: new Map(), cleared: new Set() };
}

/** Lets one piece of work after the other begin, so that blocks are made one at a time whatever is awaited. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

/**
 * Makes a chain in this process: a real EVM, and around it blocks, a pool and nodes that do what the world says. It reads no clock, draws from
 * the given source alone, and awaits nothing but promises: virtual time may stand still while it works.
 *
 * @param options - what the chain begins with
 * @returns the chain, with its first block
 * @see docs/adr/0011-evm-in-the-process.md
 */
export async function createChain(options: ChainOptions): Promise<Chain> {
  const { chainId, genesisTimeSeconds, random, gasLimit = GAS_LIMIT, baseFeePerGas = GWEI } = options;
  const crypto = await loadCrypto();
  const makeBloom = createBlooms(crypto);
  const genesis = draft({
    ...{ number: 0, parent: undefined, timestampSeconds: genesisTimeSeconds, baseFeePerGas, gasLimit },
    ...{ feeRecipient: zeroAddress, prevRandao: zeroHash, market: { gas: 0n, tipPerGas: 0n } },
  });
  // It counts as half full, so that the base fee stays as given.
  genesis.gasUsed = gasLimit / ELASTICITY;
  const changes = readGenesis(options, crypto);
  sealBlock(crypto, genesis, changes);
  const branches = createBranches(genesis);
  const world = createWorldState(branches);
  world.write(genesis, changes);
  const executor = await createExecutor({ chainId, world, branches, crypto });
  const readTransaction = createReadTransaction(crypto, chainId);

  let market: Market = { gasPerBlock: gasLimit / ELASTICITY, tipPerGas: GWEI, ...options.market };
  let forcedBaseFee: bigint | undefined;
  let funds: { readonly address: Address; readonly wei: bigint }[] = [];
  /** Funds that blocks gave from without: a reorganisation gives them again, as a faucet would. */
  const fundsOf = new WeakMap<BlockRecord, typeof funds>();
  const listeners = new Set<Parameters<Chain['onBlock']>[0]>();
  const serially = createQueue();

  const head = () => branches.head();
  const nowSeconds = options.nowSeconds ?? (() => head().timestampSeconds);
  const accountAt = (address: Address, at = head()) => world.account(at, keyOf(address));
  const nextBaseFee = () => forcedBaseFee ?? computeNextBaseFee(head());
  const pool = createPool(
    {
      nonce: (address) => Number(accountAt(address)?.nonce ?? 0n),
      balance: (address) => accountAt(address)?.balance ?? 0n,
      isDelegated: (address) => (accountAt(address)?.code.length ?? 0) > 0,
      nextBaseFee,
      nowSeconds,
      floorPerGas: () => market.poolFloorPerGas ?? 0n,
      gasLimit,
    },
    options,
  );

  /** Runs what a block takes. @returns its records, and the gas that they used */
  async function fillBlock(block: BlockRecord, machine: Machine, mine: MineOptions & { readonly room: bigint }) {
    const { maxTransactions = Number.POSITIVE_INFINITY, exclude, room } = mine;
    const environment: BlockEnvironment = { ...block, timestampSeconds: BigInt(block.timestampSeconds) };
    const transactions: TransactionRecord[] = [];
    const logs: LogRecord[] = [];
    let used = 0n;

    async function include(entry: PoolEntry): Promise<boolean> {
      const { signed } = entry;
      const tip = priceAt(signed, block.baseFeePerGas) - block.baseFeePerGas;
      // Who pays less than the market gets what room it leaves.
      const limit = tip < block.market.tipPerGas ? room : gasLimit;
      if (used + signed.gasLimit > limit || exclude?.(entry)) return false;
      const cost = signed.gasLimit * signed.maxFeePerGas + signed.value;
      if ((machine.session.account(keyOf(signed.from))?.balance ?? 0n) < cost) return false;
      const gasPrice = priceAt(signed, block.baseFeePerGas);
      const outcome = await machine.run(toMessage(signed, gasPrice), environment);
      used += outcome.gasUsed;
      const record = toRecord(signed, outcome, { block, gasPrice, index: transactions.length, used, logs });
      transactions.push(record);
      return true;
    }

    const choices = pool.select(block.baseFeePerGas);
    let step = choices.next('left');
    while (!step.done && transactions.length < maxTransactions) {
      step = choices.next((await include(step.value)) ? 'taken' : 'left');
    }
    return { transactions, logs, used };
  }

  async function makeBlock(mine: MineOptions): Promise<BlockRecord> {
    const parent = head();
    const least = parent.timestampSeconds + 1;
    const timestampSeconds = Math.max(least, Math.floor(mine.timestampSeconds ?? nowSeconds()));
    const baseFeePerGas = nextBaseFee();
    const { gasPerBlock, tipPerGas, restingBaseFeePerGas = baseFeePerGas } = { ...market, ...mine.market };
    const marketGas = smaller((gasPerBlock * restingBaseFeePerGas) / baseFeePerGas, gasLimit);
    const block = draft({
      ...{ number: parent.number + 1, parent, timestampSeconds, baseFeePerGas, gasLimit },
      feeRecipient: mine.feeRecipient ?? DEFAULT_FEE_RECIPIENT,
      prevRandao: drawWord(random),
      market: { gas: marketGas, tipPerGas },
    });
    forcedBaseFee = undefined;
    const written = await executor.use(parent, async (machine) => {
      for (const { address, wei } of funds) {
        const before = machine.session.account(keyOf(address));
        const fresh = { nonce: 0n, balance: 0n, code: NOTHING, codeHash: crypto.keccak256(NOTHING) };
        machine.session.setAccount(keyOf(address), { ...(before ?? fresh), balance: (before?.balance ?? 0n) + wei });
      }
      fundsOf.set(block, funds);
      funds = [];
      const { transactions, logs, used } = await fillBlock(block, machine, { ...mine, room: gasLimit - marketGas });
      block.gasUsed = used + smaller(marketGas, gasLimit - used);
      block.transactions = transactions;
      block.logs = logs;
      block.logsBloom = makeBloom(logs);
      return machine.session.changes();
    });
    sealBlock(crypto, block, written);
    world.write(block, written);
    branches.append(block, nowSeconds());
    pool.update(new Set(block.transactions.map(({ hash }) => hash)));
    for (const listener of listeners) listener({ kind: 'added', block });
    return block;
  }

  async function reorganise({ depth, blocks, isLost = () => false }: ReorganiseOptions) {
    if (depth < 1 || depth > head().number) throw new RangeError(`A chain of ${head().number} cannot lose ${depth}.`);
    const removed = branches.retreat(depth, nowSeconds());
    const forkBlock = head();
    for (const block of removed) for (const listener of listeners) listener({ kind: 'removed', block });
    funds = [...removed.toReversed().flatMap((block) => fundsOf.get(block) ?? []), ...funds];
    const lost: Hash[] = [];
    for (const transaction of removed.toReversed().flatMap((block) => block.transactions)) {
      if (isLost(transaction)) lost.push(transaction.hash);
      else giveBack(transaction);
    }
    pool.update(new Set());
    const times = removed.map(({ timestampSeconds }) => timestampSeconds).reverse();
    const last = times.at(-1) ?? forkBlock.timestampSeconds;
    const plans = blocks ?? [...times, last + 1].map((timestampSeconds): MineOptions => ({ timestampSeconds }));
    const added: BlockRecord[] = [];
    for (const plan of plans) added.push(await makeBlock(plan));
    return { forkBlock, removed, added, lost };
  }

  function giveBack({ signed }: TransactionRecord | { readonly signed: SignedTransaction }): void {
    try {
      pool.add(signed, 'reorganisation');
    } catch {
      // Another one with its nonce is there already, or it can no longer be paid.
    }
  }

  const ports: NodePorts = {
    ...{ chainId, branches, world, executor, pool, readTransaction, makeBloom, nowSeconds, nextBaseFee, gasLimit },
    keccak256: crypto.keccak256,
    market: () => market,
  };
  const dispatch = createDispatch(createMethods(ports));
  const own = createNode({ name: 'world' }, ports, dispatch);

  return {
    chainId,
    head,
    block: (number) => branches.blockAt(head(), number),
    findTransaction(hash) {
      const transaction = branches.findTransaction(hash, head());
      return transaction && { block: transaction.block, transaction };
    },
    balance: (address) => accountAt(address)?.balance ?? 0n,
    nonce: (address) => Number(accountAt(address)?.nonce ?? 0n),
    // The method answers with bytes.
    call: async (call) => (await own.request('eth_call', [call, numberToHex(head().number)])) as Hex,
    createNode: ({ name }) => createNode({ name }, ports, dispatch),
    mine: (mine = {}) => serially(() => makeBlock(mine)),
    reorganise: (how) => serially(() => reorganise(how)),
    setBaseFee(wei) {
      forcedBaseFee = wei;
    },
    nextBaseFee,
    market: () => market,
    setMarket(next) {
      market = { ...market, ...next };
    },
    fund(address, wei) {
      funds.push({ address, wei });
    },
    pool: {
      list: pool.list,
      has: (hash) => pool.get(hash) !== undefined,
      drop(which) {
        const chosen = pool.list().filter(which);
        pool.remove(chosen, 'command');
        return chosen.length;
      },
      dropped: pool.dropped,
    },
    onBlock(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function toRecord(
  signed: SignedTransaction,
  outcome: Outcome,
  at: {
    readonly block: BlockRecord;
    readonly gasPrice: bigint;
    readonly index: number;
    readonly used: bigint;
    readonly logs: LogRecord[];
  },
): TransactionRecord {
  const { block, gasPrice, index, used, logs } = at;
  const own = outcome.logs.map((log, place): LogRecord => {
    const position = { logIndex: logs.length + place, transactionHash: signed.hash, transactionIndex: index, block };
    return { ...log, ...position };
  });
  logs.push(...own);
  const { hash, from, to, nonce } = signed;
  return {
    ...{ hash, from, to, nonce, signed, block, index, gasPrice, logs: own },
    isSuccess: outcome.isSuccess,
    gasUsed: outcome.gasUsed,
    cumulativeGasUsed: used,
    contractAddress: to === undefined ? outcome.created : undefined,
    revertData: outcome.isSuccess ? undefined : (`0x${Buffer.from(outcome.returned).toString('hex')}` as Hex),
  };
}
