import type { ActionParams } from '@prism-gateway/protocol';
import type { Sent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import type { Loss } from '../budgets/loss.ts';
import { feeInWei } from '../checks/fee.ts';
import type { RelayerContext } from './context.ts';
import type { OpenRequest, Outcome } from './states.ts';

/** A call's ABI-encoded error; undefined if the node did not say. */
export interface Revert {
  readonly reverted: Hex | undefined;
}

const WHOLE_BPS = 10_000n;

/** A mined transaction's events for its requests; all but `unresolved` by request id. */
export interface ReadOutcomes {
  /** Executed, as an event with its digest says. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Credits that each request has paid, before the split. */
  readonly fees: ReadonlyMap<string, bigint>;
  /** Signers of which nothing was carried out; of one that was carried out whole, all. */
  readonly blamed: ReadonlyMap<string, readonly Hex[]>;
  /** Requests that no event says to be executed: the chain has to be asked. */
  readonly unresolved: readonly OpenRequest[];
  /** The reasons for which the Forwarder has refused an entry. */
  readonly refusals: ReadonlyMap<string, Revert>;
}

/** A mined transaction, and what is known of its requests. */
interface MinedCall {
  readonly sent: Sent;
  readonly requests: readonly OpenRequest[];
  readonly read: ReadOutcomes;
}

/** The loss with one request, unless it turns out that nobody is to blame for it. */
export type RequestCost = Omit<Loss, 'atMs'>;

/** Notes a loss. @param blame - `nobody`: it counts for the hour and the day alone */
export function recordLoss(
  { inFlight, events, now }: RelayerContext,
  cost: RequestCost,
  blame: 'signers' | 'nobody',
): void {
  const parties = blame === 'nobody' ? { signers: [], codes: [] } : {};
  inFlight.budgets.addLosses([{ ...cost, ...parties, atMs: now() }]);
  events.emit({ type: 'loss', wei: cost.wei });
}

/** The cost of a mined transaction, in wei: gas, and what its chain charges beside it. */
function costOf({
  gasUsed,
  effectiveGasPrice,
  dataFee,
}: Pick<Sent, 'gasUsed' | 'effectiveGasPrice' | 'dataFee'>): bigint {
  return gasUsed * effectiveGasPrice + dataFee;
}

/** Divides what a transaction has cost among its requests, by the gas that each would need singly. */
function shareCost({ sent, requests }: MinedCall): ReadonlyMap<string, bigint> {
  const total = requests.reduce((sum, { gas = 0n }) => sum + gas, 0n);
  const costWei = costOf(sent);
  const shareOf = ({ gas = 0n }: OpenRequest) =>
    total === 0n ? costWei / BigInt(requests.length) : (costWei * gas) / total;
  return new Map(requests.map((request) => [request.requestId, shareOf(request)]));
}

/** Credits that a request has had the relayer put into a prism. */
function sponsored({ record }: OpenRequest): bigint {
  const { relayerFundAmount = '0' } = record.params as Partial<ActionParams<'CREATE_PRISM_FOR'>>;
  return BigInt(relayerFundAmount);
}

function recordTotals(
  { inFlight, events }: RelayerContext,
  { sent, requests }: MinedCall,
  earnedCredits: bigint,
): void {
  events.emit({ type: 'transaction-mined', sent, requests: requests.length, earnedCredits });
  if (requests.length === 1 || sent.status === 'reverted') return;
  const singleGas = requests.reduce((sum, { gas = 0n }) => sum + gas, 0n);
  inFlight.batchCosts.learn({ gasUsed: sent.gasUsed, singleGas });
}

/**
 * Counts what a mined transaction has cost and earned. What was carried out and has cost more than its fee is a loss; who has paid is a
 * known payer from then on.
 *
 * @returns what was lost with each request that no event shows, by its id: whose fault that is, the chain has to be asked
 */
export async function countCosts(context: RelayerContext, mined: MinedCall): Promise<ReadonlyMap<string, RequestCost>> {
  const { chain, inFlight, policy } = context;
  const { requests, read } = mined;
  // A policy that cannot be read takes nothing from what is counted; the exact amounts are on the chain.
  const { shareBps } = await chain.state.policy().catch(() => ({ shareBps: WHOLE_BPS }));
  const paid = [...read.fees.values()].reduce((sum, fee) => sum + fee, 0n);
  recordTotals(context, mined, (paid * shareBps) / WHOLE_BPS);
  const shares = shareCost(mined);
  const open = new Map<string, RequestCost>();
  for (const request of requests) {
    const { requestId, signatures } = request;
    const [credits, shareWei] = [read.fees.get(requestId) ?? 0n, shares.get(requestId) ?? 0n];
    const earnedWei = feeInWei({ credits, shareBps, creditsPerEth: policy.creditsPerEth });
    const isResolved = read.outcomes.has(requestId);
    const wei = shareWei > earnedWei ? shareWei - earnedWei : 0n;
    const net = isResolved ? sponsored(request) - (credits * shareBps) / WHOLE_BPS : 0n;
    const signers = read.blamed.get(requestId) ?? [];
    const codes = signatures.flatMap(({ code, signer }) =>
      code !== undefined && signers.includes(signer) ? [code] : [],
    );
    const cost = { requestId, signers, codes, wei, gift: net > 0n ? net : 0n };
    if (!isResolved) open.set(requestId, cost);
    else if (wei > 0n || cost.gift > 0n) recordLoss(context, cost, 'signers');
    else
      inFlight.budgets.addPaid(
        signatures.map(({ signer }) => signer),
        earnedWei - shareWei,
      );
  }
  return open;
}

/** Counts what freeing the account nonce of a call has cost that was given up. */
export function countCancel(
  context: RelayerContext,
  { requests, spentWei, blame }: { requests: readonly OpenRequest[]; spentWei: bigint; blame: 'signers' | 'nobody' },
): void {
  if (spentWei === 0n) return;
  context.events.emit({ type: 'cancel-paid', wei: spentWei });
  for (const { requestId, signatures } of requests) {
    const signers = signatures.map(({ signer }) => signer);
    const codes = signatures.flatMap(({ code }) => (code === undefined ? [] : [code]));
    recordLoss(context, { requestId, signers, codes, wei: spentWei / BigInt(requests.length), gift: 0n }, blame);
  }
}
