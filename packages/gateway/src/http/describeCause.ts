/** An error as a log line has it: of a chain of causes the first one, which is what the dependency itself said. */
export interface CauseFacts {
  readonly name?: string;
  readonly message: string;
  /** AWS's own id of the call that failed, by which its support finds it. */
  readonly requestId?: string;
  readonly stack?: string | undefined;
}

/** Errors of the AWS SDK report the answer that they were made from. */
interface AwsFacts {
  readonly $metadata?: { readonly requestId?: string };
}

const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error);

/** Describes what was thrown, for the log. @see docs/operations-aws.md, "Alarms and what to do" */
export function describeCause(thrown: unknown): CauseFacts {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const root: Error & AwsFacts = rootOf(thrown);
  const { name, message, stack, $metadata: { requestId } = {} } = root;
  return { name, message, ...(requestId !== undefined && { requestId }), stack };
}
