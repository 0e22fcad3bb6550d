import type { RelayerClient } from '../rigs/relayerClient.ts';
import type { Door } from './door.ts';
import { ADMIN_KEY } from './startFaultyWorld.ts';

/** Puts relayers on the whitelist. */
export async function addRelayersBy(door: Door, relayers: readonly RelayerClient[]): Promise<void> {
  const headers = { 'x-admin-key': ADMIN_KEY };
  for (const { address } of relayers) {
    const { status, text } = await door.send({ method: 'POST', path: '/admin/relayers', json: { address }, headers });
    if (status !== 201) throw new Error(`a relayer was not added: ${status} ${text}`);
  }
}
