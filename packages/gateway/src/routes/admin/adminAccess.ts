import type { Endpoint } from '../../http/endpoint.ts';
import type { HeaderReader } from '../../http/request.ts';

/** What makes an endpoint an administrator's: the key, and the limit of failures a peer. */
export type AdminAccess = Required<Pick<Endpoint, 'authenticate' | 'failureLimit'>>;

/** @param checkAdmin - throws ApiError ADMIN_KEY_REJECTED */
export function createAdminAccess(checkAdmin: (request: { readonly headers: HeaderReader }) => void): AdminAccess {
  return {
    failureLimit: 'admin-failures',
    async authenticate(request) {
      checkAdmin(request.raw);
      return { identity: undefined, client: 'admin' };
    },
  };
}
