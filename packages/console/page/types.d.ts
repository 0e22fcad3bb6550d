/** What the page's modules hand each other. */

/** A view's way to tell of what went wrong; undefined: it is right again. */
export type OnFault = (error: (Error & { readonly status?: number }) | undefined) => void;

/** What every view is given. */
export interface ViewProps {
  readonly onFault: OnFault;
  readonly tell: (text: string) => void;
  /** As they were last; undefined at first. */
  readonly stats: Answers['stats'] | undefined;
  /** Where a transaction is shown, with `{hash}`, by chain. */
  readonly explorers: Record<string, string>;
  /** Most requests that one relayer may hold; 0: any number. */
  readonly maxOpenClaims: number;
}

/** Something that is asked for before it is done. */
export interface Act {
  readonly word: string;
  readonly question: string;
  /** What a text is wanted for, if one is. */
  readonly needs?: string;
  readonly run: (text: string) => Promise<unknown>;
}

/** What happened in a part of the time. */
export type Activity = import('@prism-gateway/protocol').QueueStatsBody['minutes'][number];

/** Steps of time, the last of which is now. */
export interface Grid {
  readonly stepMs: number;
  readonly count: number;
}

/** The answers of the gateway, by what is asked for. */
export interface Answers {
  readonly stats: import('@prism-gateway/protocol').QueueStatsBody;
  readonly relayers: import('@prism-gateway/protocol').RelayerList;
  readonly service: import('@prism-gateway/protocol').ServiceBody;
  readonly programs: import('@prism-gateway/protocol').ProgramList;
  readonly audit: import('@prism-gateway/protocol').AuditPage;
  readonly request: import('@prism-gateway/protocol').RequestRecord;
  readonly requests: import('@prism-gateway/protocol').RequestPage;
  readonly webhooks: import('@prism-gateway/protocol/webhooks').WebhookList;
  readonly deliveries: import('@prism-gateway/protocol/webhooks').DeliveryPage;
}
