/** A message to post. */
export interface WebhookPostOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** The receiver's status, or one sentence on why there was none. */
export type WebhookPostAnswer = { readonly status: number } | { readonly error: string };

/** Port: posts a message to a receiver, whom nobody here trusts. It never rejects. */
export type WebhookPost = (order: WebhookPostOrder) => Promise<WebhookPostAnswer>;
