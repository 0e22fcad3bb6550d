/** What a handler answers, before the headers that every answer carries are added. */
export interface Answer {
  readonly status: number;
  /** A string is JSON unless `headers` say otherwise. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with a value as JSON. */
export function jsonAnswer(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) };
}
