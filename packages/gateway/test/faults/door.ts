import { type Answered, createGatewayClient, type GatewayCall } from '../rigs/gatewayClient.ts';

/** The way into one gateway. */
export interface Door {
  /** @throws Error when no whole answer came */
  send(call: GatewayCall): Promise<Answered>;
  close(): void;
}

/** Opens the door of a server. */
export function openDoor(url: string, connections: number): Door {
  const { call, close } = createGatewayClient(connections);
  return { send: (sent) => call(url, sent), close };
}
