/** The types shared by the page's modules. */

import type {
  AuditPage,
  QueueStatsBody,
  RelayerList,
  RequestPage,
  RequestRecord,
  ServiceBody,
} from '@prism-gateway/protocol';
import type { DeliveryBody, DeliveryPage, WebhookBody, WebhookList } from '@prism-gateway/protocol/webhooks';

/** A view's way to report what went wrong; undefined: it is right again. */
export type OnFault = (error: (Error & { readonly status?: number }) | undefined) => void;

/** The properties of every view. */
export interface ViewProps {
  readonly route: { readonly id: string; readonly query: URLSearchParams };
  readonly onFault: OnFault;
  readonly announce: (text: string) => void;
  /** As they were last; undefined at first. */
  readonly stats: Answers['stats'] | undefined;
  readonly service: Answers['service'] | undefined;
  readonly relayers: RelayerList['relayers'];
  /** Names of relayers, by their address in lower case. */
  readonly labels: ReadonlyMap<string, string>;
  /** Whether the key may act, and not only read. */
  readonly mayAct: boolean;
  readonly ask: (act: Act, done?: () => void) => void;
  /** Reads the whitelist again. */
  readonly readRelayers: () => void;
}

/** Something that is asked for before it is done. */
export interface Act {
  readonly word: string;
  readonly title: string;
  /** The effect, in a sentence. */
  readonly effect: string;
  /** The purpose of the text to enter, if one is wanted. */
  readonly needs?: string;
  readonly danger?: boolean;
  readonly run: (text: string) => Promise<unknown>;
}

/** Moves in one part of the time. */
export type Activity = QueueStatsBody['minutes'][number];

export type Tone = 'plain' | 'wait' | 'busy' | 'good' | 'bad' | 'admin';

/** One thing that happened to a request or a payment. */
export interface StoryEvent {
  readonly at: string;
  readonly title: string;
  readonly tone: Tone;
  readonly text?: string;
  readonly txHash?: string;
}

/** A relayer's account of one request. */
export interface RelayerStory {
  readonly verdict?: {
    readonly verdict: string;
    readonly evaluatedAtMs: number;
    readonly message?: string;
    readonly waitsFor?: string;
    readonly recheckAtMs?: number;
  };
  readonly request?: {
    readonly outcome?: { readonly status?: string; readonly txHash?: string; readonly errorMessage?: string };
  };
  readonly moves: readonly { readonly state: string; readonly atMs: number }[];
  readonly submissions: readonly { readonly intentId: string; readonly requests: number }[];
  readonly transactions: readonly {
    readonly txHash: string;
    readonly nonce: number;
    readonly kind: string;
    readonly maxFeePerGas: string;
    readonly signedAtMs: number;
    readonly mined?: { readonly atMs: number; readonly blockNumber: string };
    readonly intentId: string;
    readonly state: string;
    readonly failure?: string;
  }[];
}

/** A watchtower's finding. */
export interface Finding {
  readonly requestId: string;
  readonly kind: string;
  readonly relayer: string;
  readonly text: string;
  readonly txHash?: string;
  readonly block: string;
  readonly foundAtMs: number;
  readonly isLie: boolean;
}

/** A program's account of one chain. */
export interface ProgramChain {
  readonly chainName: string;
  readonly story?: RelayerStory;
  readonly spentEther?: string;
  readonly earnedCredits?: string;
  readonly evaluated?: { readonly byVerdict: Readonly<Record<string, number>> };
  readonly findings?: readonly Finding[];
  readonly total?: number;
  readonly requests?: Readonly<Record<string, number>>;
}

/** A payment in a line, as the payment relayer reports it. */
export interface PaymentLine {
  readonly payment: string;
  readonly state: string;
  readonly stablecoins: string;
  readonly credits: string;
  readonly listed: string;
  readonly since: string;
  readonly transaction: string;
  readonly reason: string;
}

/** An account as the gas monitor reports it. */
export interface WatchedAccount {
  readonly chain: string;
  readonly account: string;
  readonly ether: string;
  readonly stablecoins?: string;
  readonly isApproved?: boolean;
  readonly isLow: boolean;
  readonly reach: string;
  readonly at: string;
  readonly course: readonly (readonly [atMs: number, ether: number])[];
}

/** A program's status: any of these fields, as our own programs write them. */
export interface ProgramStatus {
  readonly program?: string;
  readonly relayer?: string;
  readonly owner?: string;
  readonly faults?: readonly string[];
  readonly warnings?: readonly string[];
  readonly chains?: readonly ProgramChain[];
  readonly counts?: Readonly<Record<string, number>>;
  readonly conditions?: readonly { readonly name: string; readonly since?: string }[];
  readonly mail?: readonly { readonly channel: string; readonly count: number; readonly sinceMs: number }[];
  readonly today?: Readonly<Record<'day' | 'stablecoins' | 'stablecoinLimit' | 'credits' | 'creditLimit', string>> & {
    readonly completed: number;
  };
  readonly treasury?: Readonly<Record<'ether' | 'stablecoins' | 'credits', string>>;
  readonly payments?: readonly PaymentLine[];
  readonly story?: {
    readonly payment: Readonly<Record<string, string>>;
    readonly events: readonly { readonly at: string; readonly event: string }[];
    readonly calls: readonly Readonly<Record<string, string>>[];
  };
  readonly accounts?: readonly WatchedAccount[];
  readonly limits?: string;
  readonly enforces?: boolean;
}

export interface Program {
  readonly name: string;
  readonly status?: ProgramStatus;
  readonly error?: string;
}

/** The sources of a request's story. */
export interface StoryParts {
  readonly record: RequestRecord;
  readonly programs: readonly Program[];
  readonly acts: AuditPage['items'];
  readonly deliveries: readonly (DeliveryBody & { readonly url: string })[];
  readonly labels: ReadonlyMap<string, string>;
}

/** The sources of the service's state. */
export interface StateParts {
  readonly stats: Pick<QueueStatsBody, 'oldestPendingAt' | 'oldestProcessingAt' | 'minutes' | 'relayers'> & {
    readonly programs: readonly Program[];
  };
  readonly relayers: RelayerList['relayers'];
  readonly webhooks: readonly WebhookBody[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Something that needs somebody, and where. */
export interface Worry {
  readonly text: string;
  readonly todo: string;
  readonly view: string;
  readonly id?: string;
  readonly query?: Record<string, string>;
}

/** The answers of the gateway, by what is asked for. */
export interface Answers {
  readonly stats: Omit<QueueStatsBody, 'programs'> & { readonly programs: readonly Program[] };
  readonly relayers: RelayerList;
  readonly service: ServiceBody;
  readonly audit: AuditPage;
  readonly request: RequestRecord;
  readonly requests: RequestPage;
  readonly webhooks: WebhookList;
  readonly deliveries: DeliveryPage;
}
