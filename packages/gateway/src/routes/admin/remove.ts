import {
  parseWith,
  type RelayerRemoved,
  ROUTES,
  removeRelayerSchema,
  toChecksumAddress,
} from '@prism-gateway/protocol';
import { jsonAnswer } from '../../http/answer.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requireValid } from '../../http/valid.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { AdminAccess } from './adminAccess.ts';

type RemovePorts = Pick<GatewayPorts, 'relayers' | 'crypto'>;

/** `DELETE /admin/relayers/{address}`: takes a relayer off the whitelist; an unknown one is off it already. */
export function removeRelayerEndpoint(ports: RemovePorts, access: AdminAccess): Endpoint {
  return {
    ...access,
    route: ROUTES.removeRelayer,
    async handle(call) {
      const [params] = requireValid(parseWith(removeRelayerSchema, { address: call.params.address }));
      const address = toChecksumAddress(params.address, ports.crypto.keccak256);
      await ports.relayers.remove(address);
      const body: RelayerRemoved = { message: 'The relayer is not on the whitelist any more.', address };
      return jsonAnswer(200, body);
    },
  };
}
