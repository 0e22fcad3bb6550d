import type { Answer } from './answer.ts';

/** A `GET` route outside the specification's API, for operators and readers: no limits, no body, no caller. */
export interface PlainRoute {
  /** Path template, in Hono's form where it has parameters. */
  readonly path: string;
  readonly answer: (params: Readonly<Record<string, string>>) => Promise<Answer>;
}
