/** Makes JSON-RPC calls to a node. */
export interface RpcClient {
  /**
   * Makes a call.
   *
   * @param method - like `eth_chainId`
   * @param params - as JSON
   * @returns the `result`, not looked at
   * @throws RpcAnswerError when the node answers with an error; RpcUnavailableError when there is no answer
   */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Ends the calls on their way; later ones fail at once. */
  close(): void;
}
