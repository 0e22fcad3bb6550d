import type { Head } from '../chain/chainReader.ts';
import { listSignedParts } from '../checks/findNonce.ts';
import type { OpenRequest, SignedWish } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { isCarried } from './isCarried.ts';

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

type Context = Pick<Relay, 'chain' | 'settings' | 'state' | 'findExecution'>;

/** A request as the chain is asked for it. */
type Asked = Pick<OpenRequest, 'wishes' | 'record'>;

/** How far the maximal age may have been shortened since a request was carried out, in seconds: a week. */
const SHORTENED_BY = 604_800n;

/** When the Forwarder could have taken a signature, in Unix seconds. */
async function findWindow({ state }: Context, { record }: Asked, { r, s }: SignedWish) {
  const { maxAge } = await state.policy();
  const part = listSignedParts(record).find((each) => each.r === r && each.s === s);
  // Wishes are read from the record's parts.
  const since = BigInt(part?.params.timestamp ?? 0);
  return { since, until: since + maxAge + SHORTENED_BY };
}

/** A contract wallet's, or one whose nonce is far behind: what the signer had carried out is gone through. */
async function askWithoutNonce(context: Context, asked: Asked, { wish, head }: { wish: SignedWish; head: Head }) {
  return await context.findExecution({
    signer: wish.signer,
    head,
    ...(await findWindow(context, asked, wish)),
    isWanted: (execution) => isCarried(context.chain, wish, execution),
  });
}

async function askForWish(
  context: Context,
  asked: Asked,
  { wish, current, head }: { readonly wish: SignedWish; readonly current: bigint | undefined; readonly head: Head },
): Promise<ChainAnswer> {
  const { signer, nonce } = wish;
  if (current === undefined) return { kind: 'unsettled' };
  if (current <= (nonce ?? 0n)) return { kind: 'open' };
  const execution =
    nonce === undefined
      ? await askWithoutNonce(context, asked, { wish, head })
      : await context.findExecution({ signer, nonce, head });
  if (execution === undefined) return { kind: nonce === undefined ? 'open' : 'unsettled' };
  const { txHash, blockNumber } = execution;
  if (blockNumber + BigInt(context.settings.confirmations) - 1n > head.number) return { kind: 'unsettled' };
  if (nonce === undefined || (await isCarried(context.chain, wish, execution))) return { kind: 'executed', txHash };
  return { kind: 'replaced', nonce, txHash };
}

/**
 * Asks the chain what became of a request, whoever may have submitted it. A batch of many users counts as executed when any of
 * its entries is.
 *
 * @param relay - the relayer on this chain
 * @param asked - with the nonces it was signed for, as far as these are known
 * @param knownBlock - a block that the node must have to be believed; default any
 * @throws ChainError where the node does not answer
 * @see docs/specification.md RELAY-5
 */
export async function askChain(relay: Context, asked: Asked, knownBlock = 0n): Promise<ChainAnswer> {
  const { wishes } = asked;
  const nonces = await relay.chain.nonces(wishes.map(({ signer }) => signer));
  // Not the cached head: it may be older than the execution.
  const head = await relay.chain.head();
  if (head.number < knownBlock) return { kind: 'unsettled' };
  const answers = await Promise.all(
    wishes.map((wish) => askForWish(relay, asked, { wish, current: nonces.get(wish.signer), head })),
  );
  const first = (kind: ChainAnswer['kind']) => answers.find((answer) => answer.kind === kind);
  return first('unsettled') ?? first('executed') ?? first('open') ?? first('replaced') ?? { kind: 'open' };
}
