import type { Sent } from '@prism-gateway/sender';
import type { ExceededBudget } from '../budgets/loss.ts';
import type { Verdict } from '../checks/leaveReasons.ts';
import type { ClaimResult } from '../gateway/requestGateway.ts';
import type { Outcome } from '../lifecycle/states.ts';
import type { HealthPart } from './createHealth.ts';

/** Where something failed, as `prism_relayer_faults_total{where}` has it. */
export type FaultPlace = 'chain' | 'gateway' | 'claim' | 'report' | 'send' | 'evaluation' | 'journal' | 'work';

/** A node's statement, with the node's name. */
export interface Statement {
  readonly name: string;
  /** Goes on a sentence that begins with "says". */
  readonly says: string;
}

interface RequestFact {
  readonly requestId: string;
}

/** Events of the work on one chain, with their facts. Those with a `where` count as faults. */
interface EventFacts {
  // The life of requests
  'request-evaluated': {
    readonly signer: string;
    readonly verdict: Verdict;
    /** Since when it has been left for the same reason, in Unix milliseconds; undefined: it is not left. */
    readonly sinceMs?: number | undefined;
  };
  'evaluation-failed': RequestFact & { readonly where: 'evaluation'; readonly reason: string };
  /** The clock of this machine was set, in milliseconds. */
  'clock-set': { readonly byMs: number };
  'claims-resumed': { readonly open: number };
  'claim-answered': { readonly result: ClaimResult };
  'claim-failed': {
    readonly where: 'claim';
    readonly code: string;
    readonly requestId?: string;
    readonly requests?: number;
  };
  'claim-resumed': RequestFact;
  'claim-adopted': RequestFact;
  'claim-taken-over': RequestFact;
  'claim-released': RequestFact & { readonly reason: string };
  'claim-unreviewed': RequestFact & { readonly where: 'chain'; readonly reason: string };
  'submission-failed': {
    readonly where: 'send';
    readonly intentId: string;
    readonly code: string;
    readonly requests: number;
  };
  'request-reported': RequestFact & { readonly outcome: Outcome; readonly seconds: number };
  'report-failed': {
    readonly where: 'report';
    readonly code: string;
    readonly requestId?: string;
    readonly requests?: number;
  };
  'report-refused': RequestFact & { readonly outcome: Outcome };
  /** A reorganisation has undone it before it could be reported. */
  'outcome-undone': RequestFact & { readonly outcome: Outcome };
  // Money; amounts in wei, or in base units of credits
  'transaction-mined': { readonly sent: Sent; readonly requests: number; readonly earnedCredits: bigint };
  /** The transaction of the lowest nonce waits for cheaper gas than it may offer. */
  'line-stuck': object;
  'line-moves': object;
  'cancel-paid': { readonly wei: bigint };
  loss: { readonly wei: bigint };
  'budget-exceeded': ExceededBudget;
  // Figures
  'balance-read': { readonly wei: bigint };
  'claim-share-changed': { readonly share: number };
  'in-flight-changed': { readonly requests: number };
  /** How long the oldest request has waited that this relayer carries out, in seconds; 0: there is none. */
  'payable-waited': { readonly seconds: number };
  'requests-counted': { readonly counts: ReadonlyMap<string, number> };
  // The gateway
  'feed-followed': object;
  'feed-unread': { readonly where: 'gateway'; readonly code: string };
  'feed-failed': { readonly err: unknown };
  'batches-unknown': object;
  // Nodes and key
  'node-outlier': { readonly node: number; readonly subject: string; readonly says: string };
  'nodes-asked': { readonly subject: string; readonly dispute: readonly Statement[] };
  'nodes-differ': { readonly subject: string; readonly text: string };
  'receipt-forged': { readonly txHash: string };
  'key-used-elsewhere': { readonly nonce: number; readonly transactions: number; readonly txHash?: string };
  // Faults
  fault: { readonly where: FaultPlace };
  'journal-failed': { readonly where: 'journal'; readonly reason: string; readonly requests?: number };
  'work-failed': { readonly where: 'work'; readonly err: unknown; readonly requests?: number };
  'round-failed': {
    readonly where: 'gateway' | 'chain';
    readonly code?: string;
    readonly reason?: string;
    readonly err?: unknown;
  };
  'part-well': { readonly part: HealthPart };
  'part-failed': { readonly part: HealthPart; readonly reason: string };
}

export type EventType = keyof EventFacts;
export type RelayerEvent<T extends EventType = EventType> = {
  [Each in T]: { readonly type: Each } & EventFacts[Each];
}[T];

/** Takes in what happens. */
export type Listener = (event: RelayerEvent) => void;

/** The one way by which health, metrics, log and journal learn what happens on a chain. */
export interface Events {
  emit(event: RelayerEvent): void;
}

/** Acts on some types of events, each by its own function. */
export function listenBy(acts: { readonly [T in EventType]?: (event: RelayerEvent<T>) => void }): Listener {
  // The key is the type of what its function takes.
  return (event) => (acts[event.type] as Listener | undefined)?.(event);
}

/** Makes the events of one chain. @param listeners - notified of each event, in this order */
export function createEvents(listeners: readonly Listener[]): Events {
  return {
    emit(event) {
      for (const listener of listeners) listener(event);
    },
  };
}
