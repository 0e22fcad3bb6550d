import {
  addRelayerSchema,
  parseWith,
  type RelayerList,
  type RelayerRemoved,
  ROUTES,
  removeRelayerSchema,
  toChecksumAddress,
} from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { renderRelayer } from '../../http/render.ts';
import { parseBody, requireValid } from '../../http/request.ts';
import { jsonResponse } from '../../http/response.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import { type AdminAccess, logAct } from './adminAccess.ts';

type AddPorts = Pick<GatewayPorts, 'relayers' | 'crypto' | 'now' | 'logger'>;

/** `POST /admin/relayers`: puts a relayer on the whitelist, or replaces its label. */
export function addRelayerEndpoint(ports: AddPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.addRelayer,
    async handle(request, keyId) {
      const [body] = requireValid(parseBody(request.body, (json) => parseWith(addRelayerSchema, json)));
      const relayer = await ports.relayers.put({
        address: toChecksumAddress(body.address, ports.crypto.keccak256),
        ...(body.label !== undefined && { label: body.label }),
        now: ports.now(),
      });
      logAct(ports, { act: 'relayers.add', keyId, target: relayer.address });
      return jsonResponse(201, renderRelayer(relayer));
    },
  };
}

/** `GET /admin/relayers`: the whole whitelist. */
export function listRelayersEndpoint(ports: Pick<GatewayPorts, 'relayers'>, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.listRelayers,
    async handle() {
      const relayers = (await ports.relayers.list()).map(renderRelayer);
      const body: RelayerList = { relayers, count: relayers.length };
      return jsonResponse(200, body);
    },
  };
}

/** `DELETE /admin/relayers/{address}`: takes a relayer off the whitelist; an unknown one is off it already. */
export function removeRelayerEndpoint(
  ports: Pick<GatewayPorts, 'relayers' | 'crypto' | 'logger'>,
  access: AdminAccess,
): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.removeRelayer,
    async handle(request, keyId) {
      const [params] = requireValid(parseWith(removeRelayerSchema, { address: request.params.address }));
      const address = toChecksumAddress(params.address, ports.crypto.keccak256);
      await ports.relayers.remove(address);
      logAct(ports, { act: 'relayers.remove', keyId, target: address });
      const body: RelayerRemoved = { message: 'The relayer is not on the whitelist any more.', address };
      return jsonResponse(200, body);
    },
  };
}
