/**
 * The transactions that wait for a block, under geth's rules. Per account and nonce there is one. It is `pending` if the account's next
 * transactions are all there up to it, and else `queued`.
 */
import type { Address, Hash } from 'viem';
import type { ChainOptions, DroppedTransaction, PoolLimits, PoolTransaction } from '../chain.ts';
import { toBytes } from '../evm/createExecutor.ts';
import { computeIntrinsicGas } from '../evm/intrinsicGas.ts';
import { failServer } from '../RpcFailure.ts';
import type { SignedTransaction } from '../records.ts';

export interface PoolEntry extends PoolTransaction {
  readonly signed: SignedTransaction;
  /** In the order in which they came. */
  readonly sequence: number;
}

/** The chain's part for the pool: state after the newest block. */
export interface PoolPorts {
  nonce(address: Address): number;
  balance(address: Address): bigint;
  isDelegated(address: Address): boolean;
  nextBaseFee(): bigint;
  nowSeconds(): number;
  /** Least fee cap of the transactions of others, which fill the pool. */
  floorPerGas(): bigint;
  readonly gasLimit: bigint;
}

export interface Pool {
  /** @throws RpcFailure with geth's words */
  add(signed: SignedTransaction, node: string): PoolEntry;
  get(hash: Hash): PoolEntry | undefined;
  list(): readonly PoolEntry[];
  /** Of an account, by nonce. */
  of(address: Address): readonly PoolEntry[];
  isPending(entry: PoolEntry): boolean;
  /** The nonce after the last one that is pending. */
  nextNonce(address: Address): number;
  /** Those that a block could take, best first; each account's in the order of their nonces. */
  select(baseFeePerGas: bigint): Generator<PoolEntry, void, 'taken' | 'left'>;
  remove(entries: Iterable<PoolEntry>, reason: DroppedTransaction['reason']): void;
  /** Looks at everything anew after the chain has changed. @param mined - what blocks have taken */
  update(mined: ReadonlySet<Hash>): void;
  dropped(): readonly DroppedTransaction[];
}

const DEFAULTS: PoolLimits = {
  minTipPerGas: 1n,
  replacementPercent: 10,
  accountSlots: 16,
  accountQueue: 64,
  globalSlots: 5120,
  globalQueue: 1024,
  queueLifetimeSeconds: 10_800,
};
/** @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/legacypool/legacypool.go */
const MAX_BYTES = 131_072;
const MAX_INIT_BYTES = 49_152;

const costOf = ({ gasLimit, maxFeePerGas, value }: SignedTransaction) => gasLimit * maxFeePerGas + value;

function tipAt({ maxFeePerGas, maxPriorityFeePerGas }: PoolTransaction, baseFeePerGas: bigint): bigint {
  const room = maxFeePerGas - baseFeePerGas;
  return room < maxPriorityFeePerGas ? room : maxPriorityFeePerGas;
}

/** The refusal of a transaction whatever the state is. @throws RpcFailure */
function checkForm(signed: SignedTransaction, { gasLimit, minTip }: { gasLimit: bigint; minTip: bigint }): void {
  const size = (signed.raw.length - 2) / 2;
  if (size > MAX_BYTES) throw failServer(`oversized data: transaction size ${size}, limit ${MAX_BYTES}`);
  const data = toBytes(signed.data);
  if (signed.to === undefined && data.length > MAX_INIT_BYTES) {
    throw failServer(`max initcode size exceeded: code size ${data.length}, limit ${MAX_INIT_BYTES}`);
  }
  if (signed.gasLimit > gasLimit) throw failServer('exceeds block gas limit');
  if (signed.maxPriorityFeePerGas > signed.maxFeePerGas) {
    throw failServer('max priority fee per gas higher than max fee per gas');
  }
  const intrinsic = computeIntrinsicGas({ ...signed, data });
  if (signed.gasLimit < intrinsic.gas) {
    throw failServer(`intrinsic gas too low: gas ${signed.gasLimit}, minimum needed ${intrinsic.gas}`);
  }
  if (signed.gasLimit < intrinsic.floor) {
    throw failServer(
      `insufficient gas for floor data gas cost: gas ${signed.gasLimit}, minimum needed ${intrinsic.floor}`,
    );
  }
  if (signed.maxPriorityFeePerGas < minTip) {
    throw failServer(`transaction underpriced: gas tip cap ${signed.maxPriorityFeePerGas}, minimum needed ${minTip}`);
  }
  if (signed.type === 'eip7702' && signed.authorizations.length === 0) {
    throw failServer('set code tx must have at least one authorization tuple');
  }
}

/** Makes an empty pool. */
export function createPool(ports: PoolPorts, options: Pick<ChainOptions, 'pool'>): Pool {
  const limits = { ...DEFAULTS, ...options.pool };
  const byHash = new Map<Hash, PoolEntry>();
  const bySender = new Map<Address, Map<number, PoolEntry>>();
  const dropped: DroppedTransaction[] = [];
  let sequence = 0;

  const listOf = (address: Address) =>
    [...(bySender.get(address)?.values() ?? [])].sort((one, other) => one.nonce - other.nonce);

  function nextNonce(address: Address): number {
    const own = bySender.get(address);
    let nonce = ports.nonce(address);
    while (own?.has(nonce)) nonce++;
    return nonce;
  }

  const isPending = ({ from, nonce }: PoolTransaction) => nonce < nextNonce(from);

  function take(entry: PoolEntry): void {
    byHash.delete(entry.hash);
    const own = bySender.get(entry.from);
    if (own?.get(entry.nonce) === entry) own.delete(entry.nonce);
    if (own?.size === 0) bySender.delete(entry.from);
  }

  function drop(entry: PoolEntry, reason: DroppedTransaction['reason']): void {
    take(entry);
    dropped.push({ transaction: entry, reason, atSeconds: ports.nowSeconds() });
  }

  /** @throws RpcFailure */
  function checkState(signed: SignedTransaction, before: PoolEntry | undefined): void {
    const { from, nonce } = signed;
    const next = ports.nonce(from);
    if (nonce < next) throw failServer(`nonce too low: next nonce ${next}, tx nonce ${nonce}`);
    const [balance, cost] = [ports.balance(from), costOf(signed)];
    const words = 'insufficient funds for gas * price + value:';
    if (balance < cost) {
      throw failServer(`${words} balance ${balance}, tx cost ${cost}, overshot ${cost - balance}`);
    }
    const others = listOf(from).filter((entry) => entry !== before && isPending(entry));
    const queued = others.reduce((sum, entry) => sum + costOf(entry.signed), 0n);
    if (balance < queued + cost) {
      const overshot = queued + cost - balance;
      throw failServer(`${words} balance ${balance}, queued cost ${queued}, tx cost ${cost}, overshot ${overshot}`);
    }
    if (!ports.isDelegated(from)) return;
    if (nonce > next) throw failServer('gapped-nonce tx from delegated accounts');
    if (others.length > 0) throw failServer('in-flight transaction limit reached for delegated accounts');
  }

  /** @throws RpcFailure */
  function checkReplacement(signed: SignedTransaction, before: PoolEntry): void {
    const least = (fee: bigint) => {
      const raised = (fee * BigInt(100 + limits.replacementPercent)) / 100n;
      return raised > fee ? raised : fee + 1n;
    };
    const isEnough =
      signed.maxFeePerGas >= least(before.maxFeePerGas) &&
      signed.maxPriorityFeePerGas >= least(before.maxPriorityFeePerGas);
    if (!isEnough) throw failServer('replacement transaction underpriced');
  }

  /** The cheapest of all, the newest of equals. */
  function findCheapest(): PoolEntry | undefined {
    const baseFee = ports.nextBaseFee();
    const isCheaper = (one: PoolEntry, other: PoolEntry) => {
      const [tip, otherTip] = [tipAt(one, baseFee), tipAt(other, baseFee)];
      return tip === otherTip ? one.sequence > other.sequence : tip < otherTip;
    };
    let cheapest: PoolEntry | undefined;
    for (const entry of byHash.values()) if (cheapest === undefined || isCheaper(entry, cheapest)) cheapest = entry;
    return cheapest;
  }

  /** @throws RpcFailure */
  function makeRoom(signed: SignedTransaction): void {
    while (byHash.size >= limits.globalSlots + limits.globalQueue) {
      const cheapest = findCheapest();
      if (cheapest === undefined) return;
      const baseFee = ports.nextBaseFee();
      if (tipAt(cheapest, baseFee) >= tipAt(signed as never, baseFee)) throw failServer('transaction underpriced');
      drop(cheapest, 'evicted');
    }
  }

  /** Of what waits behind a gap, an account keeps the lowest nonces. */
  function boundQueue(address: Address): void {
    const queued = listOf(address).filter((entry) => !isPending(entry));
    for (const entry of queued.slice(limits.accountQueue)) drop(entry, 'evicted');
  }

  function remove(entries: Iterable<PoolEntry>, reason: DroppedTransaction['reason']): void {
    for (const entry of [...entries]) drop(entry, reason);
  }

  return {
    add(signed, node) {
      if (byHash.has(signed.hash)) throw failServer('already known');
      checkForm(signed, { gasLimit: ports.gasLimit, minTip: limits.minTipPerGas });
      if (signed.maxFeePerGas < ports.floorPerGas()) throw failServer('transaction underpriced');
      const before = bySender.get(signed.from)?.get(signed.nonce);
      checkState(signed, before);
      if (before === undefined) makeRoom(signed);
      else checkReplacement(signed, before);
      if (before !== undefined) drop(before, 'replaced');
      const { raw, hash, from, to, nonce, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = signed;
      const fees = { gasLimit, maxFeePerGas, maxPriorityFeePerGas };
      const entry: PoolEntry = {
        ...{ raw, hash, from, to, nonce, data, value, ...fees, signed, node },
        sinceSeconds: ports.nowSeconds(),
        sequence: sequence++,
      };
      byHash.set(hash, entry);
      const own = bySender.get(from);
      if (own === undefined) bySender.set(from, new Map([[nonce, entry]]));
      else own.set(nonce, entry);
      boundQueue(from);
      return entry;
    },
    get: (hash) => byHash.get(hash),
    list: () => [...byHash.values()],
    of: listOf,
    isPending,
    nextNonce,
    *select(baseFeePerGas) {
      const lines = new Map<Address, PoolEntry>();
      const offer = (address: Address, nonce: number) => {
        const entry = bySender.get(address)?.get(nonce);
        if (entry !== undefined && entry.maxFeePerGas >= baseFeePerGas) lines.set(address, entry);
        else lines.delete(address);
      };
      for (const address of bySender.keys()) offer(address, ports.nonce(address));
      while (lines.size > 0) {
        let best: PoolEntry | undefined;
        for (const entry of lines.values()) {
          const [tip, bestTip] = [tipAt(entry, baseFeePerGas), best === undefined ? 0n : tipAt(best, baseFeePerGas)];
          if (best === undefined || tip > bestTip || (tip === bestTip && entry.sequence < best.sequence)) best = entry;
        }
        if (best === undefined) return;
        if ((yield best) === 'taken') offer(best.from, best.nonce + 1);
        else lines.delete(best.from);
      }
    },
    remove,
    update(mined) {
      for (const hash of mined) {
        const entry = byHash.get(hash);
        if (entry !== undefined) take(entry);
      }
      const now = ports.nowSeconds();
      for (const entry of [...byHash.values()]) {
        if (entry.nonce < ports.nonce(entry.from)) drop(entry, 'nonceUsed');
        else if (costOf(entry.signed) > ports.balance(entry.from)) drop(entry, 'unpayable');
        else if (entry.maxFeePerGas < ports.floorPerGas()) drop(entry, 'evicted');
        else if (now - entry.sinceSeconds > limits.queueLifetimeSeconds && !isPending(entry)) drop(entry, 'expired');
      }
    },
    dropped: () => dropped,
  };
}
