/** An answer as the caller sees it. */
export interface SeenAnswer {
  readonly status: number;
  /** Lower-case names; without what belongs to the connection. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes, one character each. */
  readonly body: string;
}

/** One call and its answer. */
export interface Played extends SeenAnswer {
  readonly call: string;
}

/** Headers of the connection or of the moment, which whatever stands in front of a function writes itself. */
const connectionHeaders = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']);

/** Keeps what the gateway says, in the order of names. */
export function keepHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)] as const).sort());
}

/** Whether a machine was too busy for the gateway's time limits: an outage is no answer to compare. */
export const isOutage = ({ status, body }: SeenAnswer) => status === 503 && body.includes('The store did not answer');
