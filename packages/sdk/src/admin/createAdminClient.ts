import type { RelayerList, RelayerRemoved, RelayerWireRecord, RequestRecord } from '@prism-gateway/protocol';
import { createTransport, type TransportOptions } from '../http/createTransport.ts';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import type { CallOptions } from '../requests/getRequest.ts';

export type AdminClientOptions = { readonly adminKey: string } & (
  | { readonly gateway: GatewayClient }
  | TransportOptions
);

/** The relayers, as their administrator sees them. */
export interface AdminClient {
  /** Puts a relayer on the whitelist; one that is there gets the new label, or none. */
  addRelayer(
    relayer: { readonly address: string; readonly label?: string | undefined },
    options?: CallOptions,
  ): Promise<RelayerWireRecord>;
  /** Takes a relayer off the whitelist; one that is not there is no error. */
  removeRelayer(address: string, options?: CallOptions): Promise<RelayerRemoved>;
  /** Reads the whole whitelist. */
  listRelayers(options?: CallOptions): Promise<RelayerList>;
  /** Shuts a relayer out until it is resumed; it stays on the whitelist. @param relayer.reason - which the list shows */
  suspendRelayer(
    relayer: { readonly address: string; readonly reason: string },
    options?: CallOptions,
  ): Promise<RelayerWireRecord>;
  /** Lets a suspended relayer in again. */
  resumeRelayer(address: string, options?: CallOptions): Promise<RelayerWireRecord>;
  /** Gives back all that a relayer holds: its claims are pending again. */
  releaseRelayer(address: string, options?: CallOptions): Promise<void>;
  /** Makes a request pending again that a since suspended relayer reported failed. */
  reopenRequest(requestId: string, options?: CallOptions): Promise<RequestRecord>;
}

/**
 * Makes an administrator's client of the gateway. Each of its calls may be repeated: doing it twice is doing it once.
 *
 * @param options.adminKey - the gateway's `ADMIN_API_KEY`; never for a browser
 * @throws GatewayError UNAUTHORISED from each call, if the key is wrong
 * @see docs/specification.md WHITELIST-1
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const transport = 'gateway' in options ? options.gateway.transport : createTransport(options);
  const makeHeaders = async () => ({ 'x-admin-key': options.adminKey });
  const path = '/admin/relayers';
  const shared = { repeat: 'freely', makeHeaders } as const;
  async function act(target: { address: string; act: string; body?: unknown }, { signal }: CallOptions = {}) {
    const actPath = `${path}/${encodeURIComponent(target.address)}/${target.act}`;
    return await transport.call({ ...shared, method: 'POST', path: actPath, body: target.body, signal });
  }
  // The answers' types are the wire contract's; they are handed on, not acted upon.
  return {
    async addRelayer({ address, label }, { signal } = {}) {
      const body = { address, ...(label !== undefined && { label }) };
      return (await transport.call({ ...shared, method: 'POST', path, body, signal })) as RelayerWireRecord;
    },
    async removeRelayer(address, { signal } = {}) {
      const target = `${path}/${encodeURIComponent(address)}`;
      return (await transport.call({ ...shared, method: 'DELETE', path: target, signal })) as RelayerRemoved;
    },
    async listRelayers({ signal } = {}) {
      return (await transport.call({ ...shared, method: 'GET', path, signal })) as RelayerList;
    },
    suspendRelayer: async ({ address, reason }, options) =>
      (await act({ address, act: 'suspend', body: { reason } }, options)) as RelayerWireRecord,
    resumeRelayer: async (address, options) => (await act({ address, act: 'resume' }, options)) as RelayerWireRecord,
    async releaseRelayer(address, options) {
      await act({ address, act: 'release' }, options);
    },
    async reopenRequest(requestId, { signal } = {}) {
      const target = `/admin/requests/${encodeURIComponent(requestId)}/reopen`;
      // Done twice, the second one is refused: the request is pending already.
      return (await transport.call({
        makeHeaders,
        method: 'POST',
        path: target,
        repeat: 'ifUnsent',
        signal,
      })) as RequestRecord;
    },
  };
}
