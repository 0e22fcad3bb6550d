import {
  addRelayerSchema,
  parseWith,
  type RelayerList,
  type RelayerReleased,
  type RelayerRemoved,
  ROUTES,
  relayerPathSchema,
  suspendRelayerSchema,
  toChecksumAddress,
} from '@prism-gateway/protocol';
import type { Endpoint } from '../../http/endpoint.ts';
import { relayerNotFound } from '../../http/errors.ts';
import { renderRelayer } from '../../http/render.ts';
import { type HttpRequest, parseBody, requireValid } from '../../http/request.ts';
import { createdResponse, jsonResponse } from '../../http/response.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import { type AdminAccess, auditAct } from './adminAccess.ts';

type AddPorts = Pick<GatewayPorts, 'relayers' | 'crypto' | 'now' | 'logger' | 'admin'>;

/** `POST /admin/relayers`: puts a relayer on the whitelist, or replaces its label. */
export function addRelayerEndpoint(ports: AddPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.addRelayer,
    async handle(request, keyId) {
      const [body] = requireValid(parseBody(request.body, (json) => parseWith(addRelayerSchema, json)));
      const address = toChecksumAddress(body.address, ports.crypto.keccak256);
      const label = body.label !== undefined && { label: body.label };
      const relayer = await auditAct(ports, { act: 'relayers.add', keyId, target: address }, () =>
        ports.relayers.put({ address, ...label, now: ports.now() }),
      );
      return createdResponse(`relayers/${address}`, JSON.stringify(renderRelayer(relayer)));
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

/** `GET /admin/relayers/{address}`: one relayer of the whitelist. */
export function readRelayerEndpoint(ports: Pick<GatewayPorts, 'relayers'>, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.readRelayer,
    async handle(request) {
      const [{ address }] = requireValid(parsePath(request));
      const relayer = await ports.relayers.find(address);
      if (relayer === undefined) throw relayerNotFound(address);
      return jsonResponse(200, renderRelayer(relayer));
    },
  };
}

/** `DELETE /admin/relayers/{address}`: takes a relayer off the whitelist; an unknown one is off it already. */
export function removeRelayerEndpoint(ports: AddPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.removeRelayer,
    async handle(request, keyId) {
      const [params] = requireValid(parseWith(relayerPathSchema, { address: request.params.address }));
      const address = toChecksumAddress(params.address, ports.crypto.keccak256);
      await auditAct(ports, { act: 'relayers.remove', keyId, target: address }, () => ports.relayers.remove(address));
      const body: RelayerRemoved = { message: 'The relayer is not on the whitelist any more.', address };
      return jsonResponse(200, body);
    },
  };
}

/** Most requests that one call gives back. */
const MAX_RELEASES = 1000;

const parsePath = ({ params }: HttpRequest) => parseWith(relayerPathSchema, { address: params.address });

/** `POST /admin/relayers/{address}/suspend`: a relayer stays on the whitelist, and may not call until it is resumed. */
export function suspendRelayerEndpoint(ports: AddPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.suspendRelayer,
    async handle(request, keyId) {
      const [{ address }, { reason }] = requireValid(
        parsePath(request),
        parseBody(request.body, (json) => parseWith(suspendRelayerSchema, json)),
      );
      const target = toChecksumAddress(address, ports.crypto.keccak256);
      const relayer = await auditAct(ports, { act: 'relayers.suspend', keyId, target, reason }, async () => {
        const found = await ports.relayers.suspend({ address, reason, now: ports.now() });
        if (found === undefined) throw relayerNotFound(target);
        return found;
      });
      return jsonResponse(200, renderRelayer(relayer));
    },
  };
}

/** `POST /admin/relayers/{address}/resume`: a suspended relayer may call again. */
export function resumeRelayerEndpoint(ports: AddPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.resumeRelayer,
    async handle(request, keyId) {
      const [{ address }] = requireValid(parsePath(request));
      const target = toChecksumAddress(address, ports.crypto.keccak256);
      const relayer = await auditAct(ports, { act: 'relayers.resume', keyId, target }, async () => {
        const found = await ports.relayers.resume({ address, now: ports.now() });
        if (found === undefined) throw relayerNotFound(target);
        return found;
      });
      return jsonResponse(200, renderRelayer(relayer));
    },
  };
}

/** `POST /admin/relayers/{address}/release`: what a relayer holds is pending again; also of one that is not whitelisted any more. */
export function releaseRelayerEndpoint(
  ports: Pick<GatewayPorts, 'requests' | 'crypto' | 'now' | 'logger' | 'admin'>,
  access: AdminAccess,
): Endpoint<string> {
  return {
    ...access,
    route: ROUTES.releaseRelayer,
    async handle(request, keyId) {
      const [path] = requireValid(parsePath(request));
      const address = toChecksumAddress(path.address, ports.crypto.keccak256);
      const released = await auditAct(ports, { act: 'relayers.release', keyId, target: address }, () =>
        ports.requests.releaseAll({ relayer: address, now: ports.now(), limit: MAX_RELEASES }),
      );
      const body: RelayerReleased = { address, released, complete: released < MAX_RELEASES };
      return jsonResponse(200, body);
    },
  };
}
