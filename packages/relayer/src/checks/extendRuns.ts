import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { type ChainReader, nextBlock } from '../chain/chainReader.ts';
import type { RelayedRecord, SignatureRef } from '../lifecycle/openRequest.ts';
import type { CheckContext } from './checkRequest.ts';
import type { NonceSearch } from './createNonceSearch.ts';
import { coversGas, feeInWei } from './fee.ts';
import { readBatchResults } from './readBatchResults.ts';
import type { ChainFacts } from './screenRequest.ts';
import { mostGas } from './transactionTerms.ts';
import type { Verdict } from './verdict.ts';

/** Most writes of a run: what one batch holds by default. */
const MAX_RUN = 50;
/** What a write uses for itself, and for each byte of its payload: by these the gas of one is told from that of another. */
const WRITE_GAS = 60_000n;
const BYTE_GAS = 700n;

/** What extending goes by. */
export interface RunContext extends CheckContext {
  readonly chain: Pick<ChainReader, 'simulate' | 'extraCost' | 'forwarder' | 'relayer'>;
}

type Ready = Extract<Verdict, { readonly kind: 'ready' }>;

/** A request that was checked. */
interface RunCandidate {
  readonly record: RelayedRecord;
  readonly search: Pick<NonceSearch, 'signatures'>;
}

/** A write with the forwarder nonce that it was signed for. */
interface RunMember {
  readonly record: RelayedRecord;
  readonly signature: SignatureRef;
  readonly nonce: bigint;
}

function readMember({ record, search }: RunCandidate): RunMember | undefined {
  if (record.action !== 'WRITE_DATA_FOR') return undefined;
  const [signature] = search.signatures();
  return signature?.nonce === undefined ? undefined : { record, signature, nonce: signature.nonce };
}

/** A write that is in its turn, and those of the same signer that wait for it, without a gap. */
function listRuns(candidates: readonly RunCandidate[], verdicts: ReadonlyMap<string, Verdict>) {
  const members = candidates.map(readMember).filter((member) => member !== undefined);
  const bySigner = Map.groupBy(members, ({ signature }) => signature.signer);
  return [...bySigner.values()].flatMap((own) => {
    const verdictOf = ({ record }: RunMember) => verdicts.get(record.requestId);
    const head = own.find((member) => verdictOf(member)?.kind === 'ready');
    if (head === undefined) return [];
    const waiting = own.filter((member) => {
      const verdict = verdictOf(member);
      return verdict?.kind === 'leave' && verdict.reason === 'nonceAhead';
    });
    const run = [head];
    for (let next: RunMember | undefined = head; next !== undefined && run.length < MAX_RUN; ) {
      const nonce: bigint = next.nonce + 1n;
      next = waiting.find((member) => member.nonce === nonce);
      if (next !== undefined) run.push(next);
    }
    // The head was found ready just now.
    return run.length > 1 ? [{ head: verdictOf(head) as Ready, run }] : [];
  });
}

// Only writes are members.
const paramsOf = ({ record }: RunMember) => record.params as ActionParams<'WRITE_DATA_FOR'>;

/** Simulates a run as the one transaction that it would be. @returns how many of it, from the first on, would be written */
async function countWritten({ chain }: RunContext, run: readonly RunMember[], facts: ChainFacts): Promise<number> {
  const timestamp = String(facts.seconds);
  const params = createMultiUserBatchParams({ signer: chain.relayer, timestamp, requests: run.map(paramsOf) });
  const { data } = encodeForwarderCall({ action: 'BATCH_MULTI_USER_WRITE_DATA', params });
  const simulated = await chain.simulate(data, nextBlock(facts.head, facts.seconds));
  if ('reverted' in simulated || simulated.gas > mostGas(facts.head)) return 0;
  const refused = readBatchResults(simulated.returned, run.length).findIndex(({ success }) => !success);
  return refused < 0 ? run.length : refused;
}

const weigh = (member: RunMember) => WRITE_GAS + (BYTE_GAS * BigInt(paramsOf(member).payload.length - 2)) / 2n;

/** Each write has to pay for a transaction of its own, as one that is gathered with other users' does. */
async function judgeFollower(
  context: RunContext,
  member: RunMember,
  { head, first, facts }: { readonly head: Ready; readonly first: RunMember; readonly facts: ChainFacts },
): Promise<Verdict | undefined> {
  const { chain, policy, settings, budgets } = context;
  const { record, signature, nonce } = member;
  const signatures = [signature];
  if (budgets.findExceeded({ requestId: record.requestId, signatures }, 0n) !== undefined) return undefined;
  const own = (head.gas * weigh(member)) / weigh(first);
  const extra = await chain.extraCost(encodeForwarderCall(record).data as Hex, own);
  const gas = own + extra.gas;
  const credits = BigInt(record.params.relayerFee);
  const { shareBps } = facts.forwarder;
  const feeWei = feeInWei({ credits, shareBps, creditsPerEth: settings.creditsPerEth });
  const { gasPrice } = facts.head;
  const marginPercent = policy.feeMarginPercent;
  if (!coversGas({ feeWei, gas, gasPrice, extraWei: extra.wei, marginPercent })) return undefined;
  const stake = { wei: head.stake.wei, gift: 0n };
  return { kind: 'ready', signatures, gas, feeWei: feeWei - extra.wei, stake, follows: nonce - 1n };
}

/**
 * Extends what is in its turn by what waits for it: writes of one signer with consecutive forwarder nonces, which can be carried out in
 * one transaction. They are simulated together; those that would be written, and pay for themselves, are ready as well.
 *
 * @param context - chain, settings and clock
 * @param checked - the candidates, and their verdicts so far, which are changed
 * @throws ChainError where the node does not answer
 * @see docs/specification.md RELAY-21
 */
export async function extendRuns(
  context: RunContext,
  checked: {
    readonly candidates: readonly RunCandidate[];
    readonly verdicts: Map<string, Verdict>;
    readonly facts: ChainFacts;
  },
): Promise<void> {
  const { candidates, verdicts, facts } = checked;
  // Side by side: nobody's run waits for another signer's.
  const extended = listRuns(candidates, verdicts).map(async ({ head, run }) => {
    const written = run.slice(0, await countWritten(context, run, facts));
    const [first, ...followers] = written;
    for (const member of followers) {
      // A run has a first one.
      const verdict = await judgeFollower(context, member, { head, first: first as RunMember, facts });
      if (verdict === undefined) break;
      verdicts.set(member.record.requestId, verdict);
    }
  });
  await Promise.all(extended);
}
