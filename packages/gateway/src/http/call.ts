import type { BodySource } from './body.ts';

/** One HTTP request on its way through the gateway. */
export interface Call extends BodySource {
  /** Upper case. */
  readonly method: string;
  /** As routed: without query, host, stage prefix or base path. */
  readonly path: string;
  /** The query as sent, without its `?`. */
  readonly query: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** Rate-limit client of the connection. */
  readonly peer: string;
  /** Raw body; empty where there is none. */
  readonly body: Uint8Array;
}
