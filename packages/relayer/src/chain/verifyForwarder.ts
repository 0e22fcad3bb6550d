import { forwarderAbi } from '@prism-gateway/contracts';
import { hashForwarderDomain } from '@prism-gateway/protocol/typed-data';
import { parseCount } from '@prism-gateway/rpc';
import { encodeFunctionData } from 'viem/utils';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { ChainError } from './chainError.ts';
import type { ChainRpc } from './createChainRpc.ts';

/**
 * Refuses a node of another chain, and an address that is not a Forwarder of this chain: nothing signed would be valid there.
 *
 * @param rpc - the way to the node
 * @param chain - as it is set
 * @returns the chain's id
 * @throws ChainError `WRONG_CHAIN`, `WRONG_FORWARDER`, and those of the node
 * @see docs/specification.md CHAIN-1
 */
export async function verifyForwarder(
  rpc: Pick<ChainRpc, 'read' | 'attempt'>,
  chain: Pick<ChainSettings, 'chainName' | 'chainId' | 'forwarder'>,
): Promise<number> {
  const chainId = await rpc.read(['eth_chainId'], (answer) => parseCount(answer, 'chain id'));
  if (chain.chainId !== undefined && chain.chainId !== chainId) {
    throw new ChainError(
      'WRONG_CHAIN',
      `The node of ${chain.chainName} is on chain ${chainId}, not on ${chain.chainId}.`,
    );
  }
  const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'domainSeparator' });
  const answer = await rpc.attempt(['eth_call', { to: chain.forwarder, data }, 'latest']);
  // No code there answers with no bytes; nonsense is no word of any contract.
  const separator = 'returned' in answer ? answer.returned : '0x';
  if (separator !== hashForwarderDomain({ chainId, forwarder: chain.forwarder })) {
    throw new ChainError(
      'WRONG_FORWARDER',
      `At ${chain.forwarder} on chain ${chainId} is no Forwarder of this version.`,
    );
  }
  return chainId;
}
