/** One HTTP call, by what it sends. */
export interface HttpRequest {
  /** Default GET. */
  readonly method?: string;
  /** From the API's root: without the base URL's own path. */
  readonly path: string;
  readonly query?: string | Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body to write as JSON. */
  readonly json?: unknown;
  /** A body to send as it is. */
  readonly body?: string | Uint8Array;
  /** Default application/json with a body; null: none. */
  readonly contentType?: string | null;
  /** 429 is what the test wants to see; otherwise the call waits and comes again. */
  readonly seesLimit?: boolean;
  /** A route that is no part of the API: only CORS and `X-Request-Id` are checked. */
  readonly isPlain?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON; undefined if there is none. */
  readonly body: unknown;
}
