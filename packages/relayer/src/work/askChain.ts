import type { Head } from '../chain/chainReader.ts';
import type { OpenRequest, SignedWish } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';

/** What the chain says of a request. */
export type ChainAnswer =
  /** Nothing of it is on the chain, and its nonce is not used. */
  | { readonly kind: 'open' }
  /** A transaction has carried it out, deep enough. */
  | { readonly kind: 'executed'; readonly txHash: `0x${string}` }
  /** Its forwarder nonce was used by another request of the signer, deep enough. */
  | { readonly kind: 'replaced'; readonly nonce: bigint; readonly txHash: `0x${string}` }
  /** Its nonce is used, but by a transaction that is not deep enough yet, or that the node's logs do not show yet. */
  | { readonly kind: 'unsettled' };

type Context = Pick<Relay, 'chain' | 'settings' | 'findExecution'>;

async function askForWish(
  { chain, settings, findExecution }: Context,
  wish: SignedWish,
  { current, head }: { readonly current: bigint | undefined; readonly head: Head },
): Promise<ChainAnswer> {
  const { signer, nonce, r, s } = wish;
  if (current === undefined) return { kind: 'unsettled' };
  if (nonce === undefined || current <= nonce) return { kind: 'open' };
  const execution = await findExecution({ signer, nonce, head });
  if (execution === undefined) return { kind: 'unsettled' };
  if (execution.blockNumber + BigInt(settings.confirmations) - 1n > head.number) return { kind: 'unsettled' };
  const { txHash } = execution;
  // The event does not say which request of that nonce it was; the signature in the calldata does.
  const calldata = await chain.calldata(txHash);
  const isOurs = calldata.includes(r.slice(2)) && calldata.includes(s.slice(2));
  return isOurs ? { kind: 'executed', txHash } : { kind: 'replaced', nonce, txHash };
}

/**
 * Asks the chain what became of a request, whoever may have submitted it. A batch of many users counts as executed when any of
 * its entries is.
 *
 * @param relay - the relayer on this chain
 * @param request - with the nonces it was signed for
 * @throws ChainError where the node does not answer
 * @see DECISIONS.md, "Whose word counts"
 */
export async function askChain(relay: Context, request: Pick<OpenRequest, 'wishes'>): Promise<ChainAnswer> {
  const { wishes } = request;
  const nonces = await relay.chain.nonces(wishes.map(({ signer }) => signer));
  // Not the cached head: it may be older than the execution.
  const head = await relay.chain.head();
  const answers = await Promise.all(
    wishes.map((wish) => askForWish(relay, wish, { current: nonces.get(wish.signer), head })),
  );
  const first = (kind: ChainAnswer['kind']) => answers.find((answer) => answer.kind === kind);
  return first('unsettled') ?? first('executed') ?? first('open') ?? first('replaced') ?? { kind: 'open' };
}
