import { forwarderAbi } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { decodeFunctionData } from 'viem/utils';
import type { ChainReader } from '../chain/chainReader.ts';
import type { Execution } from '../chain/readExecutions.ts';
import type { SignatureRef } from './openRequest.ts';

type SignatureHalves = Pick<SignatureRef, 'signer' | 'r' | 's'>;

/** Reads whose signatures a multi-user batch carries. @returns undefined for any other call */
function readEntries(calldata: Hex): readonly SignatureHalves[] | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: forwarderAbi, data: calldata });
    if (functionName !== 'batchMultiUserWriteData') return undefined;
    // An address in lower case is one.
    return args[0].map(({ auth }) => ({ signer: auth.signer.toLowerCase() as Hex, r: auth.r, s: auth.s }));
  } catch {
    // By way of another contract.
    return undefined;
  }
}

/**
 * Tells whether an execution is that of a signature. The event does not say which request of the signer it was; the calldata does,
 * but for a batch with several of the signer's: there the events stand in the order of the entries.
 *
 * @param execution - of the same signer
 * @throws ChainError
 */
export async function executionMatchesRequest(
  chain: Pick<ChainReader, 'calldata' | 'events'>,
  { signer, r, s }: SignatureHalves,
  { txHash, nonce }: Pick<Execution, 'txHash' | 'nonce'>,
): Promise<boolean> {
  const calldata = await chain.calldata(txHash);
  if (!calldata.includes(r.slice(2)) || !calldata.includes(s.slice(2))) return false;
  const entries = readEntries(calldata);
  if (entries === undefined) return true;
  const isOwn = (entry: SignatureHalves) => entry.signer === signer && entry.r === r && entry.s === s;
  if (entries.filter((entry) => entry.signer === signer).length === 1) return entries.some(isOwn);
  const events = await chain.events(txHash);
  return entries.some((entry, index) => {
    const event = events[index];
    return isOwn(entry) && event?.success === true && event.nonce === nonce;
  });
}
