import type { Hex } from 'viem';
import { type BlockHead, type ChainReader, type ForwarderPolicy, nextBlock } from '../chain/chainReader.ts';
import { mostGas, readNothingDone } from '../checks/checkRequest.ts';
import { coversGas, feeInWei, sumFees } from '../checks/fee.ts';
import { readBatchResults } from '../checks/readBatchResults.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { OpenRequest, Submission } from './openRequest.ts';
import { planSubmission } from './planSubmission.ts';

/** How often a batch is simulated again without the entries that were refused; one that still has some goes nowhere. */
const MAX_REHEARSALS = 3;

/** What rehearsing goes through. */
export interface RehearsePorts {
  readonly chain: Pick<ChainReader, 'forwarder' | 'relayer' | 'simulate'>;
  readonly policy: Pick<RelayPolicy, 'feeMarginPercent' | 'leaseMs'>;
  readonly settings: Pick<ChainSettings, 'maxFeePerGas' | 'creditsPerEth'>;
  readonly now: () => number;
}

/** The chain as the transaction will meet it. */
export interface Stage {
  readonly head: BlockHead;
  readonly forwarder: ForwarderPolicy;
  /** Unix time that the next block is expected to have. */
  readonly seconds: bigint;
}

type Draft = Omit<Submission, 'maxFeePerGas' | 'expiresAtMs'>;

function lower(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}

/** Simulates the very transaction: sender, calldata, gas limit, fees and block. @returns undefined where it would revert */
async function rehearse(
  { chain, settings }: RehearsePorts,
  { requests, draft, stage }: { requests: readonly OpenRequest[]; draft: Draft; stage: Stage },
): Promise<{ readonly gas: bigint; readonly returned: Hex } | undefined> {
  const { head, seconds } = stage;
  // What the sender offers at first.
  const maxFeePerGas = lower(2n * head.baseFeePerGas + head.tip, settings.maxFeePerGas);
  const terms = { gasLimit: draft.gasLimit, maxFeePerGas, maxPriorityFeePerGas: lower(head.tip, maxFeePerGas) };
  const simulated = await chain.simulate(draft.data, nextBlock(head, seconds), terms);
  const [only] = requests;
  const outcome = requests.length === 1 && only !== undefined ? readNothingDone(only.record, simulated) : simulated;
  return 'reverted' in outcome ? undefined : outcome;
}

/** What the fees of those that are carried out are worth to this relayer, in wei. */
function valueFees({ settings }: RehearsePorts, requests: readonly OpenRequest[], stage: Stage, returned: Hex): bigint {
  const [only] = requests;
  const credits =
    requests.length === 1 && only !== undefined
      ? sumFees(only.record, returned)
      : requests.reduce((sum, { record }) => sum + BigInt(record.params.relayerFee), 0n);
  return feeInWei({ credits, shareBps: stage.forwarder.shareBps, creditsPerEth: settings.creditsPerEth });
}

/** Bounds what may ever be offered for a unit of gas by what the fees are worth; and the time by the oldest claim's lease. */
function bound(
  { policy, settings }: RehearsePorts,
  { requests, feeWei, gas }: { requests: readonly OpenRequest[]; feeWei: bigint; gas: bigint },
) {
  const claimedAtMs = Math.min(...requests.map((request) => request.claimedAtMs));
  return {
    maxFeePerGas: lower(feeWei / gas, settings.maxFeePerGas),
    expiresAtMs: policy.leaseMs === 0 ? undefined : claimedAtMs + policy.leaseMs,
  };
}

/**
 * Plans the transaction that carries some requests, and simulates that very transaction. Of a batch, entries that would be refused are
 * left out; it is planned and simulated again without them.
 *
 * @param ports - chain, settings and clock
 * @param planned.requests - one, or writes of several users, each with its gas
 * @returns undefined where it would revert, or its fees do not pay for it
 * @throws ChainError where the node does not answer
 * @see docs/specification.md RELAY-15, RELAY-16
 */
export async function rehearseSubmission(
  ports: RehearsePorts,
  planned: { readonly requests: readonly OpenRequest[]; readonly stage: Stage },
): Promise<Submission | undefined> {
  const { chain, policy, now } = ports;
  const { stage } = planned;
  let { requests } = planned;
  for (let round = 0; round < MAX_REHEARSALS && requests.length > 0; round += 1) {
    const { forwarder, relayer } = chain;
    const draft = planSubmission({ requests, forwarder, relayer, nowMs: now(), mostGas: mostGas(stage.head) });
    const rehearsed = await rehearse(ports, { requests, draft, stage });
    if (rehearsed === undefined) return undefined;
    const { gas, returned } = rehearsed;
    const results = requests.length === 1 ? [] : readBatchResults(returned, requests.length);
    const kept = requests.filter((_, index) => results[index]?.success !== false);
    if (kept.length === requests.length) {
      const feeWei = valueFees(ports, requests, stage, returned);
      const { gasPrice } = stage.head;
      if (!coversGas({ feeWei, gas, gasPrice, marginPercent: policy.feeMarginPercent })) return undefined;
      return { ...draft, ...bound(ports, { requests, feeWei, gas }) };
    }
    requests = kept;
  }
  return undefined;
}
