import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import type { NodeAnswer } from './askEach.ts';
import type { RpcPool } from './rpcPool.ts';

/** A question to each node, and how its answers are read. */
export interface EachQuestion<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** @throws RpcUnavailableError where the answer is nonsense */
  readonly parse: (answer: unknown) => T;
  /** How long the others are waited for once one has answered, in milliseconds; default the pool's. */
  readonly patienceMs?: number | undefined;
}

/**
 * Asks each node the same, and reads what they answer; nonsense counts as no answer.
 *
 * @param pool - the nodes
 * @param question - what is asked
 * @returns what each says that can be read
 * @throws RpcAnswerError, RpcUnavailableError where that is none
 */
export async function tellEach<T>(
  pool: Pick<RpcPool, 'askEach'>,
  { method, params, parse, patienceMs }: EachQuestion<T>,
): Promise<readonly NodeAnswer<T>[]> {
  const told: NodeAnswer<T>[] = [];
  let fault: unknown;
  for (const { node, answer } of await pool.askEach(method, params, patienceMs)) {
    try {
      told.push({ node, answer: parse(answer) });
    } catch (error) {
      if (!(error instanceof RpcUnavailableError || error instanceof RpcAnswerError)) throw error;
      fault ??= error;
    }
  }
  if (told.length === 0) throw fault;
  return told;
}
