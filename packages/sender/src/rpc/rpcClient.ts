/** Makes JSON-RPC calls. */
export interface RpcClient {
  /**
   * @param method - like `eth_chainId`
   * @param params - as JSON
   * @returns the `result`, not looked at
   * @throws RpcAnswerError, RpcUnavailableError
   */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Ends the calls on their way. */
  close(): void;
}
