import type { Action, ActionParams } from '@prism-gateway/protocol';
import {
  createSignedParams,
  createTypedData,
  deriveCloudId,
  type SignedAction,
} from '@prism-gateway/protocol/typed-data';
import type { Address, Hex, LocalAccount } from 'viem';
import { cloudAbi, encodeForwarderCall } from '../../src/index.ts';
import type { ChainReads } from './chainReads.ts';
import { type ChainTransactions, GAS } from './chainTransactions.ts';
import type { Chain } from './openChain.ts';
import { DEFAULT_FEE, FUNDS } from './users.ts';

/** Differences from what the Forwarder expects. */
export interface SignOptions<A extends SignedAction> {
  readonly action: A;
  readonly signer: LocalAccount;
  /** The params of the action; fee and timestamp have defaults. */
  readonly params: Omit<ActionParams<A>, 'signer' | 'v' | 'r' | 's' | 'relayerFee' | 'timestamp'> &
    Partial<Pick<ActionParams<A>, 'relayerFee' | 'timestamp'>>;
  readonly nonce?: bigint;
  readonly chainId?: number;
  readonly forwarder?: Address;
  /** Whose name the params bear, if it is not the key's own: a contract wallet. */
  readonly wallet?: Address;
}

/** A signed request, as the gateway would hold it. */
export interface SignedOrder<A extends Action = Action> {
  readonly action: A;
  readonly params: ActionParams<A>;
}

/** Signs a request as its user would. */
async function signRequest<A extends SignedAction>(
  { chain, reads }: { readonly chain: Chain; readonly reads: ChainReads },
  order: SignOptions<A>,
): Promise<SignedOrder<A>> {
  const { action, signer, wallet = signer.address } = order;
  const timestamp = order.params.timestamp ?? String(await reads.now());
  // The rest of the params and the two fields that have defaults are the action's unsigned params.
  const params = { relayerFee: String(DEFAULT_FEE), ...order.params, timestamp } as never;
  const nonce = order.nonce ?? (await reads.readNonce(wallet));
  const { chainId = chain.deployment.chainId, forwarder = chain.deployment.forwarder } = order;
  const typedData = createTypedData({ action, params, nonce, chainId, forwarder });
  // A local account signs; its type would have the structs of the typed data known in advance.
  const signature = await signer.signTypedData!(typedData as never);
  return { action, params: createSignedParams({ action, params, signer: wallet, signature }) };
}

/** The requests that users sign and relayers submit. */
export function createChainRequests(
  chain: Chain,
  parts: { readonly reads: ChainReads; readonly transactions: ChainTransactions },
) {
  const { reads, transactions } = parts;
  const { deployer, official, deployment } = chain;
  const sign = <A extends SignedAction>(order: SignOptions<A>) => signRequest({ chain, reads }, order);
  /** Submits a request from a relayer, the official one unless told otherwise. */
  const submit = <A extends Action>(request: SignedOrder<A>, from: Address = official, gas: bigint = GAS) =>
    transactions.sendTransaction({ from, to: deployment.forwarder, data: encodeForwarderCall(request).data, gas });
  /** Signs and submits. */
  const act = async <A extends SignedAction>(order: SignOptions<A>, from?: Address) => submit(await sign(order), from);

  /** Makes a prism for a user, with credits that the deployer puts in. */
  async function createPrism(signer: LocalAccount, salt: string = '0x01', funds: bigint = FUNDS): Promise<Hex> {
    const params = { fundAmount: '0', salt, relayerFee: '0' };
    const { error } = await act({ action: 'CREATE_PRISM_FOR', signer, params });
    if (error !== undefined) throw new Error(error);
    const cloudId = deriveCloudId({ signer: signer.address, salt });
    await transactions.approve(deployer, deployment.cloud, funds);
    const fund = { to: deployment.cloud, abi: cloudAbi, functionName: 'fundPrism', args: [cloudId, funds] };
    await transactions.call({ from: deployer, ...fund });
    return cloudId;
  }
  return { sign, submit, act, createPrism };
}
