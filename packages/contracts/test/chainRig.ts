import type { Action, ActionParams } from '@prism-gateway/protocol';
import {
  createSignedParams,
  createTypedData,
  deriveCloudId,
  type SignedAction,
} from '@prism-gateway/protocol/typed-data';
import type { Abi, Address, Hex, LocalAccount, TransactionReceipt } from 'viem';
import { createTestClient, http, publicActions } from 'viem';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { decodeErrorResult, encodeDeployData, encodeFunctionData, getAddress, keccak256, toHex } from 'viem/utils';
import {
  cloudAbi,
  creditTokenAbi,
  type Deployment,
  type DeployOptions,
  deployContracts,
  encodeForwarderCall,
  exchangeAbi,
  forwarderAbi,
  type RequestExecuted,
  readRequestExecuted,
  startDevnet,
} from '../src/index.ts';

/** What became of a transaction. */
export interface Outcome {
  readonly receipt: TransactionReceipt;
  /** The Forwarder's events. */
  readonly events: readonly RequestExecuted[];
  /** The custom error that it reverted with, like `PrismNotFound(0x…)`; absent where it did not. */
  readonly error?: string;
}

/** What is signed and how, where it differs from what the Forwarder expects. */
export interface SignOptions<A extends SignedAction> {
  readonly action: A;
  readonly signer: LocalAccount;
  /** The params of the action; fee and timestamp have defaults. */
  readonly params: Omit<ActionParams<A>, 'signer' | 'v' | 'r' | 's' | 'relayerFee' | 'timestamp'> &
    Partial<Pick<ActionParams<A>, 'relayerFee' | 'timestamp'>>;
  readonly nonce?: bigint;
  readonly chainId?: number;
  readonly forwarder?: Address;
  /** Whose name the params bear, where it is not the key's own: a contract wallet. */
  readonly wallet?: Address;
}

export const CREDIT = 10n ** 18n;
/** The fee of requests that name none: a number that no split divides evenly. */
export const DEFAULT_FEE = CREDIT / 100n + 1n;

/** The credits that tests put in new prisms. */
export const FUNDS = 100n * CREDIT;

const GAS = 15_000_000n;

/** A key that holds no ether: users never pay gas. */
export function createUser(name: string): LocalAccount {
  return privateKeyToAccount(keccak256(toHex(`user ${name}`)));
}

/** A 32-byte id made of a name. */
export function idOf(name: string): Hex {
  return keccak256(toHex(name));
}

/**
 * Starts a devnet with the contracts, and what tests do with them.
 *
 * @param options - the contracts' parameters
 */
export async function startChainRig(options: Partial<DeployOptions> = {}) {
  const devnet = await startDevnet();
  // Ten accounts by default.
  const [deployerKey, officialKey, outsiderKey] = devnet.privateKeys as readonly [Hex, Hex, Hex];
  const [deployer, official, outsider] = [deployerKey, officialKey, outsiderKey].map((key) =>
    privateKeyToAddress(key),
  ) as [Address, Address, Address];
  const treasury = createUser('treasury').address;
  const deployment: Deployment = await deployContracts({
    rpcUrl: devnet.rpcUrl,
    privateKey: deployerKey,
    officialRelayers: [official],
    treasury,
    ...options,
  });
  const client = createTestClient({ mode: 'anvil', transport: http(devnet.rpcUrl) }).extend(publicActions);
  // From here on a block is mined when a test says so: nothing has to be waited for.
  await client.setAutomine(false);
  const { forwarder, cloud, creditToken } = deployment;

  /** The block time that the next transaction will have at least. */
  const now = async () => (await client.getBlock()).timestamp;

  const readNonce = (signer: Address) =>
    client.readContract({ address: forwarder, abi: forwarderAbi, functionName: 'nonces', args: [signer] });

  const readPrism = async (cloudId: Hex) => {
    const [owner, pendingOwner, balance, deleted] = await client.readContract({
      address: cloud,
      abi: cloudAbi,
      functionName: 'prisms',
      args: [cloudId],
    });
    return { owner, pendingOwner, balance, deleted };
  };

  const readData = (cloudId: Hex, dataId: Hex) =>
    client.readContract({ address: cloud, abi: cloudAbi, functionName: 'dataOf', args: [cloudId, dataId] });

  const readCredits = (owner: Address) =>
    client.readContract({ address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf', args: [owner] });

  /** The revert data of a mined transaction. */
  async function readRevert(hash: Hex): Promise<Hex> {
    // The call tracer's answer is no part of viem's schema.
    const trace = (await client.request({
      method: 'debug_traceTransaction',
      params: [hash, { tracer: 'callTracer' }],
    } as never)) as { output?: Hex };
    return trace.output ?? '0x';
  }

  /** Sends from an account that the node holds. */
  async function sendTransaction(call: { from: Address; to?: Address; data: Hex; gas?: bigint }): Promise<Outcome> {
    const { from, to, data, gas = GAS } = call;
    const hash = (await client.request({
      method: 'eth_sendTransaction',
      params: [{ from, data, gas: toHex(gas), ...(to === undefined ? {} : { to }) }],
    } as never)) as Hex;
    await client.mine({ blocks: 1 });
    const receipt = await client.getTransactionReceipt({ hash });
    const events = readRequestExecuted({ logs: receipt.logs, forwarder });
    if (receipt.status === 'success') return { receipt, events };
    return { receipt, events, error: describeError(await readRevert(hash)) };
  }

  /** Calls a function of a contract from an account that the node holds. */
  const call = (order: {
    from: Address;
    to: Address;
    abi: Abi;
    functionName: string;
    args: readonly unknown[];
    gas?: bigint;
  }) => sendTransaction({ ...order, data: encodeFunctionData(order) });

  /** Signs a request as its user would. */
  async function sign<A extends SignedAction>(order: SignOptions<A>): Promise<{ action: A; params: ActionParams<A> }> {
    const { action, signer, wallet } = order;
    const timestamp = order.params.timestamp ?? String(await now());
    // The rest of the params and the two fields that have defaults are the action's unsigned params.
    const params = { relayerFee: String(DEFAULT_FEE), ...order.params, timestamp } as never;
    const nonce = order.nonce ?? (await readNonce(wallet ?? signer.address));
    const { chainId = deployment.chainId } = order;
    const typedData = createTypedData({ action, params, nonce, chainId, forwarder: order.forwarder ?? forwarder });
    // A local account signs.
    const signature = await signer.signTypedData!(typedData as never);
    return { action, params: createSignedParams({ action, params, signer: wallet ?? signer.address, signature }) };
  }

  /** Submits a request from a relayer. */
  const submit = <A extends Action>(
    request: { action: A; params: ActionParams<A> },
    from: Address = official,
    gas: bigint = GAS,
  ) => sendTransaction({ from, to: forwarder, data: encodeForwarderCall(request).data, gas });

  const act = async <A extends SignedAction>(order: SignOptions<A>, from?: Address) => submit(await sign(order), from);

  /** Gives credits of the deployer's. */
  const giveCredits = (to: Address, amount: bigint) =>
    call({ from: deployer, to: creditToken, abi: creditTokenAbi, functionName: 'transfer', args: [to, amount] });

  /** Lets a node's account spend credits. */
  const approve = (from: Address, spender: Address, amount: bigint) =>
    call({ from, to: creditToken, abi: creditTokenAbi, functionName: 'approve', args: [spender, amount] });

  /** Makes a prism for a user, funded by anyone's `fundPrism`. */
  async function createPrism(signer: LocalAccount, salt: string = '0x01', funds: bigint = FUNDS): Promise<Hex> {
    const created = await act({
      action: 'CREATE_PRISM_FOR',
      signer,
      params: { fundAmount: '0', salt, relayerFee: '0' },
    });
    if (created.error !== undefined) throw new Error(created.error);
    const cloudId = deriveCloudId({ signer: signer.address, salt });
    await approve(deployer, cloud, funds);
    await call({ from: deployer, to: cloud, abi: cloudAbi, functionName: 'fundPrism', args: [cloudId, funds] });
    return cloudId;
  }

  /** Deploys a contract of the tests. */
  async function deploy(abi: Abi, bytecode: Hex, args: readonly unknown[] = []): Promise<Address> {
    const { receipt } = await sendTransaction({ from: deployer, data: encodeDeployData({ abi, bytecode, args }) });
    if (!receipt.contractAddress) throw new Error('The deployment of a test contract failed.');
    return getAddress(receipt.contractAddress);
  }

  /** Mines a block at a time; what is called next runs a little later. */
  async function setNextTime(timestamp: bigint): Promise<void> {
    await client.setNextBlockTimestamp({ timestamp });
  }

  return {
    devnet,
    deployment,
    client,
    deployer,
    official,
    outsider,
    treasury,
    now,
    readNonce,
    readPrism,
    readData,
    readCredits,
    sendTransaction,
    call,
    sign,
    submit,
    act,
    giveCredits,
    approve,
    createPrism,
    deploy,
    setNextTime,
  };
}

export type ChainRig = Awaited<ReturnType<typeof startChainRig>>;

/** Writes revert data out, like `PrismNotFound(0x…)`; `0x` where there was none. */
export function describeError(data: Hex): string {
  if (data === '0x') return '0x';
  const abi = [...forwarderAbi, ...exchangeAbi];
  const { errorName, args } = decodeErrorResult({ abi, data });
  return `${errorName}(${(args ?? []).join(', ')})`;
}
