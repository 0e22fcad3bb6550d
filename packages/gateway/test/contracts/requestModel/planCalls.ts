import { randomUUID } from 'node:crypto';
import { REQUEST_STATUSES } from '@prism-gateway/protocol';
import type { ListQuery, StoredRequest } from '../../../src/ports/requestStore.ts';
import { anyAddress, anyChain, anyTxHash, pendingRequest, START } from '../storedRequests.ts';
import type { Move } from './applyMove.ts';
import type { PlannedCall, PlannedStep } from './stepsArbitrary.ts';

/** A call with everything it needs. */
export interface ReadyCall {
  readonly plan: PlannedCall;
  readonly task: { readonly move: Move } | { readonly query: ListQuery };
}

/** Turns planned steps into calls; it knows every record that was made so far. */
export interface CallPlanner {
  readonly signers: readonly string[];
  readonly chains: readonly string[];
  /** @returns the step's calls; a planned repetition becomes two */
  prepare(step: PlannedStep): ReadyCall[];
}

/** Makes a planner whose signers, chains and relayers are its own. */
export function createCallPlanner(): CallPlanner {
  const [signers, chains, relayers] = [[1, 2, 3].map(anyAddress), [1, 2].map(anyChain), [1, 2, 3].map(anyAddress)];
  const created: StoredRequest[] = [];
  let clockMs = START;
  const at = <T>(list: readonly T[], index: number) => list[index % list.length] as T; // None of the lists is empty.

  function newRecord({ signer, chain, skewMs }: PlannedCall): StoredRequest {
    const fields = { signer: at(signers, signer), chainName: at(chains, chain), createdAt: clockMs + skewMs };
    const record = pendingRequest(fields);
    created.unshift(record);
    return record;
  }

  function moveOf(call: PlannedCall): Move {
    const { kind, relayer: index, skewMs, leaseMs } = call;
    // The first call on a record may come before any was made: it finds none.
    const known = created.length === 0 ? pendingRequest() : at(created, call.record);
    const { requestId } = known;
    const [relayer, now] = [at(relayers, index), clockMs + skewMs];
    if (kind === 'create') return { kind, record: newRecord(call) };
    if (kind === 'createAgain') return { kind: 'create', record: created.length === 0 ? newRecord(call) : known };
    const lease = leaseMs === undefined ? {} : { leaseExpiredAt: now - leaseMs };
    const claim = { requestId, relayer, claimId: randomUUID(), now, ...lease };
    if (kind === 'claim' || kind === 'claimTwice') return { kind: 'claim', claim };
    if (kind === 'renew') return { kind, claim };
    if (kind === 'release') return { kind, release: { requestId, relayer, releaseId: randomUUID(), now } };
    if (kind === 'get') return { kind, requestId };
    const success = { status: 'success', txHash: anyTxHash() } as const;
    const outcome = call.succeeds ? success : ({ status: 'failed', errorMessage: 'the Forwarder reverted' } as const);
    return { kind: 'report', report: { requestId, relayer, reportId: randomUUID(), now, outcome } };
  }

  function queryOf({ signer, chain, status, relayer, succeeds, turns }: PlannedCall): ListQuery {
    const filters = [
      { status: at(REQUEST_STATUSES, status) },
      { signer: at(signers, signer) },
      { chainName: at(chains, chain), status: at(REQUEST_STATUSES, status) },
    ];
    return { filter: at(filters, relayer), order: succeeds ? 'asc' : 'desc', limit: turns * 10 + 1 };
  }

  return {
    signers,
    chains,
    prepare({ advanceMs, calls }) {
      clockMs += advanceMs;
      return calls.flatMap((plan): ReadyCall[] => {
        if (plan.kind === 'list') return [{ plan, task: { query: queryOf(plan) } }];
        const call = { plan, task: { move: moveOf(plan) } };
        return plan.kind.endsWith('Twice') ? [call, { ...call, plan: { ...plan, process: plan.process + 1 } }] : [call];
      });
    },
  };
}
