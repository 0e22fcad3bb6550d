/** What a node has said to one call; `none`: nothing that could be read. */
export type AnsweredCall =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: unknown; readonly message: string; readonly data: unknown }
  | { readonly kind: 'none' };

/** How long a node may take for one HTTP request, in milliseconds. */
const TIMEOUT_MS = 10_000;

interface WireAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown } | null;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function readOne(answer: WireAnswer): AnsweredCall {
  const { error, result } = answer;
  if (isObject(error))
    return { kind: 'error', code: error.code, message: String(error.message ?? ''), data: error.data };
  return result === undefined ? { kind: 'none' } : { kind: 'result', result };
}

/**
 * Posts calls to a node as one batch (one alone as a single call), and matches the answers by their ids: a node may give them in any
 * order, and one with a foreign id answers nothing.
 *
 * @param node.rpcUrl - over http or https
 * @param node.signal - ends the wait for the answers
 * @param calls - at least one
 * @returns an answer a call, in the order of the calls; it never rejects
 * @see https://www.jsonrpc.org/specification#batch
 */
export async function postBatch(
  { rpcUrl, signal }: { readonly rpcUrl: string; readonly signal?: AbortSignal | undefined },
  calls: readonly { readonly method: string; readonly params: readonly unknown[] }[],
): Promise<readonly AnsweredCall[]> {
  const written = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
  const answers: AnsweredCall[] = calls.map(() => ({ kind: 'none' }));
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(written.length === 1 ? written[0] : written),
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
      redirect: 'error',
    });
    const body: unknown = await response.json();
    for (const answer of Array.isArray(body) ? body : [body]) {
      // An object's fields are looked at one by one.
      const { id } = isObject(answer) ? (answer as WireAnswer) : {};
      if (typeof id === 'number' && answers[id]?.kind === 'none') answers[id] = readOne(answer as WireAnswer);
    }
  } catch {
    // No line, no JSON, or too late: those that have no answer are asked again.
  }
  return answers;
}
