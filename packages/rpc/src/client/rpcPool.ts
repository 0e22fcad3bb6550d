import type { NodeAnswer } from './askEach.ts';
import type { RpcClient } from './rpcClient.ts';

/** Several nodes, called as one. */
export interface RpcPool extends RpcClient {
  /** How many nodes there are. */
  readonly size: number;
  /**
   * Asks each node for itself: for what one of them alone is not believed.
   *
   * @param patienceMs - how long the others are waited for once one has answered; default 2000
   * @returns what those have answered that did so in time, in the order of the URLs
   * @throws RpcAnswerError, RpcUnavailableError where none does
   */
  askEach(method: string, params: readonly unknown[], patienceMs?: number): Promise<readonly NodeAnswer<unknown>[]>;
  /** Has a node asked only where no other answers, for a minute: others have said that it lies. @param node - its place among the URLs, from 0 */
  distrust(node: number): void;
}
