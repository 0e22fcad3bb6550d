/** Why no fee could be quoted, as a program matches it. */
export type FeeQuoteErrorCode =
  /** The Forwarder would refuse the action as things stand: `data` holds the error that it reverts with. */
  | 'ACTION_REVERTS'
  /** The node's answer is not what the method gives. */
  | 'NODE_ANSWER';

const sentences: Readonly<Record<FeeQuoteErrorCode, string>> = {
  ACTION_REVERTS: 'The Forwarder would refuse this action as things stand; no fee helps it.',
  NODE_ANSWER: "The node's answer cannot be read; ask another one.",
};

/** No fee could be quoted. What the node's client throws goes through. */
export class FeeQuoteError extends Error {
  override readonly name = 'FeeQuoteError';
  readonly code: FeeQuoteErrorCode;
  /** What the Forwarder reverts with, ABI-encoded, if the node has told. */
  readonly data: string | undefined;

  constructor(code: FeeQuoteErrorCode, { data, cause }: { readonly data?: string; readonly cause?: unknown } = {}) {
    super(sentences[code], { cause });
    this.code = code;
    this.data = data;
  }
}
