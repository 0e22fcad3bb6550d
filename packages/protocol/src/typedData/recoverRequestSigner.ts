import type { Address } from 'viem';
import { recoverAddress } from 'viem/utils';
import type { ActionParams } from '../requests/create.ts';
import { hashRequest, type TypedDataSource } from './createTypedData.ts';
import { joinSignature, type SplitSignature } from './signature.ts';
import type { SignedAction } from './structs.ts';

/** A signed request and what its signature depends on. */
export interface SignedRequest<A extends SignedAction = SignedAction> extends TypedDataSource<A> {
  readonly params: TypedDataSource<A>['params'] & Pick<ActionParams<A>, 'v' | 'r' | 's'>;
}

/**
 * Recovers who signed a request, to compare with its `signer`.
 *
 * A contract wallet (ERC-1271) signs otherwise: that its signature recovers to another address says nothing.
 *
 * @returns the address, EIP-55 checksummed
 * @throws viem's error if no key can have made the signature
 */
export async function recoverRequestSigner<A extends SignedAction>(request: SignedRequest<A>): Promise<Address> {
  const signature: SplitSignature = request.params;
  return await recoverAddress({ hash: hashRequest(request), signature: joinSignature(signature) });
}
