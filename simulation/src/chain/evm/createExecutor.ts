import { createHash } from 'node:crypto';
import { createCustomCommon, Hardfork, Mainnet } from '@ethereumjs/common';
import { createEVM, type EVM } from '@ethereumjs/evm';
import { Address as EvmAddress } from '@ethereumjs/util';
import type { Address, Hex } from 'viem';
import type { Branches } from '../createBranches.ts';
import type { Crypto } from '../loadCrypto.ts';
import type { Authorization, BlockEnvironment, BlockRecord, SignedTransaction } from '../records.ts';
import { createSession, type Session } from '../state/createSession.ts';
import { type AccountState, NOTHING, type WorldState } from '../state/createWorldState.ts';
import { AUTHORIZATION_GAS, computeIntrinsicGas, larger, smaller } from './intrinsicGas.ts';
import { quickenInterpreter } from './quickenInterpreter.ts';

/** A transaction as the EVM runs it, signed or only thought of. */
export interface Message extends Pick<SignedTransaction, 'from' | 'to' | 'value' | 'gasLimit' | 'accessList'> {
  readonly data: Uint8Array;
  readonly authorizations: readonly Authorization[];
  /** For a unit of gas, the base fee included; 0: nothing is paid. */
  readonly gasPrice: bigint;
}

export interface EvmLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

export interface Outcome {
  readonly isSuccess: boolean;
  readonly gasUsed: bigint;
  /** Refund of the gas that was used. */
  readonly refund: bigint;
  readonly returned: Uint8Array;
  /** The end as the EVM names it: `revert`, `out of gas`, … */
  readonly failure: string | undefined;
  readonly logs: readonly EvmLog[];
  readonly created: Address | undefined;
}

/** Runs one transaction after the other on one state. */
export interface Machine {
  readonly session: Session;
  /** The sender must be able to pay, its nonce is not looked at, and the gas limit must hold what is used before it runs. */
  run(message: Message, environment: BlockEnvironment): Promise<Outcome>;
}

/** Lends machines; each is one user's until its work is done. */
export interface Executor {
  /** @param base - after which block */
  use<T>(base: BlockRecord, work: (machine: Machine) => Promise<T>): Promise<T>;
}

/** Most of what is used that is given back, as a part of it. @see https://eips.ethereum.org/EIPS/eip-3529 */
const MAX_REFUND_PART = 5n;
/** The refund for the permission of an account that is there already. */
const KNOWN_AUTHORITY_REFUND = BigInt(AUTHORIZATION_GAS) - 12_500n;
const DELEGATION = Buffer.from('ef0100', 'hex');

export const toBytes = (hex: Hex): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), 'hex'));
/** The buffer's text is hex. */
export const toHex = (bytes: Uint8Array): Hex =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
export const keyOf = (hex: Hex): string => Buffer.from(hex.slice(2), 'hex').toString('latin1');

const isDelegation = (code: Uint8Array) => code.length === 23 && DELEGATION.equals(code.subarray(0, 3));
const addEther = (session: Session, key: string, wei: bigint) => {
  const account = session.account(key);
  if (account === undefined && wei === 0n) return;
  session.setAccount(key, { ...(account ?? EMPTY), balance: (account?.balance ?? 0n) + wei });
};
const EMPTY: AccountState = {
  nonce: 0n,
  balance: 0n,
  code: NOTHING,
  codeHash: toBytes('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'),
};

/** @returns what is given back of the gas for the permissions */
function applyAuthorizations(evm: EVM, session: Session, { authorizations }: Message, chainId: number): bigint {
  let refund = 0n;
  for (const { chainId: own, address, nonce, authority } of authorizations) {
    if (authority === undefined || (own !== 0 && own !== chainId)) continue;
    evm.journal.addAlwaysWarmAddress(authority);
    const key = keyOf(authority);
    const account = session.account(key);
    if (account !== undefined && account.code.length > 0 && !isDelegation(account.code)) continue;
    if ((account?.nonce ?? 0n) !== BigInt(nonce)) continue;
    if (account !== undefined) refund += KNOWN_AUTHORITY_REFUND;
    const isEnd = /^0x0{40}$/.test(address);
    const code = isEnd ? NOTHING : Buffer.concat([DELEGATION, toBytes(address)]);
    const codeHash = isEnd ? EMPTY.codeHash : evm.common.customCrypto.keccak256?.(code);
    if (codeHash === undefined) throw new Error('The EVM was made with a hash function.');
    session.setAccount(key, { balance: account?.balance ?? 0n, nonce: BigInt(nonce) + 1n, code, codeHash });
  }
  return refund;
}

/** An address of the EVM's, made once for each that is met. */
function createAddresses() {
  const known = new Map<Address, EvmAddress>();
  return (address: Address): EvmAddress => {
    let made = known.get(address);
    if (made === undefined) {
      made = new EvmAddress(toBytes(address));
      known.set(address, made);
    }
    return made;
  };
}

/**
 * Makes what runs transactions and calls: an EVM of its own for each that is under way, on a state of its own, so that awaits which interleave
 * mix nothing.
 *
 * @param options - state, branches (for block hashes), and the native functions that the EVM's precompiles use
 */
export async function createExecutor(options: {
  readonly chainId: number;
  readonly world: WorldState;
  readonly branches: Pick<Branches, 'blockAt'>;
  readonly crypto: Crypto;
}): Promise<Executor> {
  const { chainId, world, branches, crypto } = options;
  const common = createCustomCommon({ chainId, name: 'simulated' }, Mainnet, {
    hardfork: Hardfork.Prague,
    customCrypto: {
      keccak256: crypto.keccak256,
      sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
      ecrecover(digest, v, r, s) {
        const key = crypto.recover(digest, Buffer.concat([r, s]), Number(v) - 27);
        if (key === undefined) throw new Error('no key can have made the signature');
        return key;
      },
    },
  });
  const toAddress = createAddresses();
  const idle: (Machine & { begin(base: BlockRecord): void })[] = [];

  async function createMachine() {
    const session = createSession(world, crypto.keccak256);
    let base: BlockRecord | undefined;
    const blockchain = {
      async getBlock(id: unknown) {
        const hash = base && branches.blockAt(base, Number(id))?.hash;
        return { hash: () => (hash === undefined ? new Uint8Array(32) : toBytes(hash)) };
      },
      async putBlock() {},
      shallowCopy: () => blockchain,
    };
    // It asks its chain for nothing but hashes of blocks.
    const evm = await createEVM({ common, stateManager: session, blockchain: blockchain as never });
    await quickenInterpreter(evm);
    // Nobody listens, and each event would be an await.
    evm['_emit' as never] = (async () => {}) as never;
    const precompiles = [...evm.precompiles.keys()];

    async function run(message: Message, environment: BlockEnvironment): Promise<Outcome> {
      const { from, to, data, value, gasLimit, gasPrice, accessList } = message;
      const { gas: intrinsic, floor } = computeIntrinsicGas(message);
      const sender = keyOf(from);
      const before = session.account(sender) ?? EMPTY;
      session.setAccount(sender, {
        ...before,
        nonce: before.nonce + 1n,
        balance: before.balance - gasLimit * gasPrice,
      });
      const { journal } = evm;
      for (const address of precompiles) journal.addAlwaysWarmAddress(address);
      journal.addAlwaysWarmAddress(from);
      journal.addAlwaysWarmAddress(environment.feeRecipient);
      if (to !== undefined) journal.addAlwaysWarmAddress(to);
      for (const { address, storageKeys } of accessList) {
        journal.addAlwaysWarmAddress(address);
        for (const slot of storageKeys) journal.addAlwaysWarmSlot(address, slot);
      }
      let refund = applyAuthorizations(evm, session, message, chainId);
      const caller = toAddress(from);
      const { execResult, createdAddress } = await evm.runCall({
        block: { header: toHeader(environment, toAddress) } as never,
        ...{ caller, origin: caller, gasPrice, value, data },
        gasLimit: gasLimit - intrinsic,
        ...(to !== undefined && { to: toAddress(to) }),
        skipNonceIncrement: true,
      });
      const spent = execResult.executionGasUsed + intrinsic;
      refund = smaller(refund + (execResult.gasRefund ?? 0n), spent / MAX_REFUND_PART);
      const gasUsed = larger(spent - refund, floor);
      addEther(session, sender, (gasLimit - gasUsed) * gasPrice);
      const tip = gasPrice > environment.baseFeePerGas ? gasPrice - environment.baseFeePerGas : 0n;
      addEther(session, keyOf(environment.feeRecipient), gasUsed * tip);
      for (const [gone] of execResult.selfdestruct ?? []) {
        if (!execResult.createdAddresses?.has(gone)) continue;
        session.setAccount(keyOf(gone), undefined);
        session.clearSlots(keyOf(gone));
      }
      await journal.cleanup();
      session.originalStorageCache.clear();
      const { exceptionError } = execResult;
      return {
        isSuccess: exceptionError === undefined,
        gasUsed,
        refund: spent - gasUsed,
        returned: execResult.returnValue,
        failure: exceptionError?.error,
        logs: (execResult.logs ?? []).map(([address, topics, bytes]) => ({
          address: toHex(address),
          topics: topics.map(toHex),
          data: toHex(bytes),
        })),
        created: exceptionError === undefined && createdAddress ? toHex(createdAddress.bytes) : undefined,
      };
    }

    return {
      session,
      run,
      begin(block: BlockRecord) {
        base = block;
        session.begin(block);
      },
    };
  }

  return {
    async use(block, work) {
      const machine = idle.pop() ?? (await createMachine());
      machine.begin(block);
      const result = await work(machine);
      // One that threw half-way may have been left in the middle of a call: it is not lent again.
      idle.push(machine);
      return result;
    },
  };
}

/** A block's header, as far as opcodes ask for it. */
function toHeader(environment: BlockEnvironment, toAddress: (address: Address) => EvmAddress) {
  return {
    number: BigInt(environment.number),
    coinbase: toAddress(environment.feeRecipient),
    timestamp: environment.timestampSeconds,
    difficulty: 0n,
    prevRandao: toBytes(environment.prevRandao),
    gasLimit: environment.gasLimit,
    baseFeePerGas: environment.baseFeePerGas,
    getBlobGasPrice: () => 1n,
  };
}
