import type { Call } from '../http/call.ts';
import type { Caller } from '../http/endpoint.ts';
import { authenticateRelayer, type RelayerAuthPorts } from './relayer.ts';

/** Authenticates a relayer as an endpoint's caller: its address, and itself as the client that limits count. */
export async function relayerCaller(ports: RelayerAuthPorts, call: Call): Promise<Caller<string>> {
  const relayer = await authenticateRelayer(ports, call);
  return { identity: relayer, client: `relayer:${relayer.toLowerCase()}` };
}
