import { coversGas } from '../checks/fee.ts';
import type { OpenRequest } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { advanceRequest } from './advanceRequest.ts';
import { followSubmission, planSubmissions } from './submitRequests.ts';

/** A request that was claimed a moment ago, and what its check before the claim found. */
export interface FreshClaim {
  readonly request: OpenRequest;
  /** The relayer's share of the fee in wei. */
  readonly feeWei: bigint;
}

/** Splits claims by whether their fees still pay at the price of this moment. */
async function splitByPrice(relay: Relay, claims: readonly FreshClaim[]) {
  const { policy, settings, state } = relay;
  const { gasPrice } = await state.head();
  const isPaid = ({ request, feeWei }: FreshClaim) =>
    gasPrice <= settings.maxFeePerGas &&
    coversGas({ feeWei, gas: request.gas ?? 0n, gasPrice, marginPercent: policy.feeMarginPercent });
  return { paid: claims.filter(isPaid), unpaid: claims.filter((claim) => !isPaid(claim)) };
}

/**
 * Submits what was checked a moment ago and then claimed, at once; what no longer pays waits until it does.
 *
 * @param relay - the relayer on this chain
 * @param claims - `claimed`, with their estimated gas
 */
export async function workOnClaims(relay: Relay, claims: readonly FreshClaim[]): Promise<void> {
  // Where the node does not answer, all of them go the long way, which asks until it does.
  const { paid, unpaid } = await splitByPrice(relay, claims).catch(() => ({ paid: [], unpaid: claims }));
  const submissions =
    paid.length === 0
      ? []
      : planSubmissions(
          relay,
          paid.map(({ request }) => request),
        );
  const followed = submissions.map(async (submission) => {
    const returned = await followSubmission(relay, submission);
    await Promise.all(returned.map((requestId) => advanceRequest(relay, requestId)));
  });
  await Promise.all([...followed, ...unpaid.map(({ request }) => advanceRequest(relay, request.requestId))]);
}

/**
 * Ends claimed requests that have no chance: the chain is asked whether somebody has carried them out; they are checked a last time;
 * what is then still in the way is reported.
 *
 * @param relay - the relayer on this chain
 * @param hopeless - `claimed`, after all patience
 */
export async function settleClaims(relay: Relay, hopeless: readonly OpenRequest[]): Promise<void> {
  await Promise.all(hopeless.map(({ requestId }) => advanceRequest(relay, requestId, 0)));
}
