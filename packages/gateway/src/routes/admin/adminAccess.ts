import type { CheckAdmin } from '../../auth/admin.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { mayOnlyRead, notLocal, toApiError } from '../../http/errors.ts';
import { isLocalPeer } from '../../http/isLocalPeer.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { Logger } from '../../ports/logger.ts';

const SERVER_ERROR = 500;

/** An administrator's access: the key, by whose id its acts are logged, and the limit of failures a peer. */
export type AdminAccess = Required<Pick<Endpoint<string>, 'authenticate' | 'failureLimit'>>;

/**
 * Lets administrators in; what a key for reading tries to do is refused, and one line in the audit log.
 *
 * @see docs/specification.md ADMIN-1, ADMIN-15
 */
export function createAdminAccess(
  checkAdmin: CheckAdmin,
  { localAdminOnly, logger }: { readonly localAdminOnly: boolean; readonly logger: Logger },
): AdminAccess {
  return {
    failureLimit: 'admin-failures',
    async authenticate(request) {
      if (localAdminOnly && !isLocalPeer(request.peer)) throw notLocal();
      const { keyId, mayAct } = checkAdmin(request.raw);
      if (!mayAct && request.method !== 'GET') {
        logger.warn({ audit: 'refused', keyId, target: request.path }, 'administrator with a key for reading');
        throw mayOnlyRead();
      }
      return { identity: keyId, client: 'admin' };
    },
  };
}

/** An administrator's act that has been done. */
export interface AdminAct {
  /** Like `requests.release`. */
  readonly act: string;
  /** The id of the key that was used, never the key. */
  readonly keyId: string;
  /** The request or the relayer that it was done to. */
  readonly target: string;
  readonly reason?: string;
}

/** Writes an act into the audit log: one line each. @see docs/specification.md ADMIN-9 */
function logAct({ logger }: { readonly logger: Logger }, { act, keyId, target, reason }: AdminAct): void {
  logger.info({ audit: act, keyId, target, ...(reason !== undefined && { reason }) }, 'administrator');
}

type AuditPorts = Pick<GatewayPorts, 'admin' | 'logger' | 'now'>;

/**
 * Does an administrator's act, and has it in the audit log: noted before it is done, so that none is done without a trace. One that is
 * refused is taken back; one of which nobody knows whether it was done stays.
 *
 * @throws what the act throws; DependencyUnavailableError if it cannot be noted
 * @see docs/specification.md ADMIN-11
 */
export async function auditAct<T>(ports: AuditPorts, act: AdminAct, run: () => Promise<T>): Promise<T> {
  const { admin, now } = ports;
  const { act: name, keyId, target, reason } = act;
  const number = await admin.recordAct({
    at: now(),
    act: name,
    keyId,
    target,
    ...(reason !== undefined && { reason }),
  });
  try {
    const result = await run();
    logAct(ports, act);
    return result;
  } catch (error) {
    if (toApiError(error).status < SERVER_ERROR) await admin.dropAct(number).catch(() => undefined);
    throw error;
  }
}
