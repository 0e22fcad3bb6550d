import { type RelayerList, ROUTES } from '@prism-gateway/protocol';
import { jsonAnswer } from '../../http/answer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { AdminAccess } from './adminAccess.ts';
import { renderRelayer } from './renderRelayer.ts';

/** `GET /admin/relayers`: the whole whitelist. */
export function listRelayersEndpoint(ports: { readonly relayers: RelayerStore }, access: AdminAccess): Endpoint {
  return {
    ...access,
    route: ROUTES.listRelayers,
    async handle() {
      const relayers = (await ports.relayers.list()).map(renderRelayer);
      const body: RelayerList = { relayers, count: relayers.length };
      return jsonAnswer(200, body);
    },
  };
}
