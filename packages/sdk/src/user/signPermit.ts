import {
  createPermit,
  createPermitTypedData,
  type Permit,
  type PermitSource,
} from '@prism-gateway/protocol/typed-data';
import type { UserClient } from './userClient.ts';

/**
 * Signs an EIP-2612 permit for the credit token, by which the creation of a prism is funded in the same transaction.
 *
 * @param user - the owner of the credits
 * @param permit.spender - who is to pull them
 * @param permit.value - credits, in base units
 * @param permit.nonce - `nonces(owner)` of the token, not of the Forwarder
 * @param permit.deadline - Unix time in seconds
 * @returns the `permit` of `createPrism` and `createPrismWithData`
 * @see https://eips.ethereum.org/EIPS/eip-2612
 */
export async function signPermit(
  user: Pick<UserClient, 'domain' | 'getAddress' | 'signTypedData'>,
  permit: Omit<PermitSource, 'chainId' | 'owner'>,
): Promise<Permit> {
  const typedData = createPermitTypedData({
    ...permit,
    chainId: user.domain.chainId,
    owner: await user.getAddress(),
  });
  return createPermit({ deadline: permit.deadline, signature: await user.signTypedData(typedData) });
}
