import { addRelayerSchema, parseWith, ROUTES, toChecksumAddress } from '@prism-gateway/protocol';
import { jsonAnswer } from '../../http/answer.ts';
import { parseBody } from '../../http/body.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requireValid } from '../../http/valid.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { AdminAccess } from './adminAccess.ts';
import { renderRelayer } from './renderRelayer.ts';

type AddPorts = Pick<GatewayPorts, 'relayers' | 'crypto' | 'now'>;

/** `POST /admin/relayers`: puts a relayer on the whitelist, or replaces its label. */
export function addRelayerEndpoint(ports: AddPorts, access: AdminAccess): Endpoint {
  return {
    ...access,
    route: ROUTES.addRelayer,
    async handle(call) {
      const [body] = requireValid(parseBody(call.body, (json) => parseWith(addRelayerSchema, json)));
      const relayer = await ports.relayers.put({
        address: toChecksumAddress(body.address, ports.crypto.keccak256),
        ...(body.label !== undefined && { label: body.label }),
        now: ports.now(),
      });
      return jsonAnswer(201, renderRelayer(relayer));
    },
  };
}
