import { hash } from 'node:crypto';
import {
  parseWith,
  ROUTES,
  type SignedOperationBody,
  type StorageOperation,
  signStorageSchema,
} from '@prism-gateway/protocol';
import { authenticateUser } from '../../auth/identity.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { unauthenticated, validationFailed } from '../../http/errors.ts';
import { formatTime } from '../../http/render.ts';
import { parseBody, requireValid } from '../../http/request.ts';
import { jsonResponse } from '../../http/response.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { VerifiedUser } from '../../ports/tokenVerifier.ts';
import { objectPathOf, userFolderOf } from '../../rules/objectPath.ts';

export interface SignOptions {
  /** Lifetime of a presigned URL, 30 to 300 seconds. */
  readonly lifetimeSeconds: number;
  /** Whether a `put` is bound to the content that `key` names. */
  readonly bindContent: boolean;
  /** Most bytes that a `put` may be signed for. */
  readonly maxObjectBytes: number;
  /** Whether every `put` must say its size. */
  readonly requireSize: boolean;
}

type SignPorts = Pick<GatewayPorts, 'signer' | 'tokens' | 'now'>;

/** A user with the name of its folder in the bucket. */
interface Tenant {
  readonly user: VerifiedUser;
  readonly folder: string;
}

/** The lifetime, cut so that the URL never outlives the token. */
function lifetimeOf(user: VerifiedUser, nowMs: number, lifetimeSeconds: number): number {
  const signingSecond = Math.floor(nowMs / 1000);
  const lifetime = Math.min(lifetimeSeconds, Math.floor(user.expiresAtMs / 1000) - signingSecond);
  if (lifetime < 1) throw unauthenticated('TOKEN_REJECTED', 'The access token has expired.');
  return lifetime;
}

interface SizedOrder {
  readonly operation: StorageOperation;
  readonly size?: number | undefined;
}

/** Checks the size by the operation and the settings. @throws ApiError INVALID_INPUT */
function checkSize({ operation, size }: SizedOrder, { maxObjectBytes, requireSize }: SignOptions): void {
  const refuse = (message: string) => validationFailed([{ path: 'size', message }]);
  if (operation !== 'put') {
    if (size !== undefined) throw refuse('Expected no size but of a put');
  } else if (size === undefined) {
    if (requireSize) throw refuse('Expected the bytes that the object has');
  } else if (size > maxObjectBytes) throw refuse(`Expected at most ${maxObjectBytes} bytes`);
}

/**
 * `POST /storage/sign`: a signed-in user gets one presigned URL for one operation on one object of its own.
 *
 * @see docs/specification.md SIGN-1, SIGN-4, SIGN-8
 */
export function signStorageEndpoint(ports: SignPorts, options: SignOptions): Endpoint<Tenant> {
  return {
    route: ROUTES.signStorage,
    claimedCaller: ({ raw }) => `token:${hash('sha256', raw.headers.get('authorization') ?? '')}`,
    async authenticate(request) {
      const user = await authenticateUser(ports.tokens, request.raw);
      const folder = userFolderOf(user);
      return { identity: { user, folder }, client: `user:${folder}` };
    },
    async handle(request, { user, folder }) {
      const [body] = requireValid(parseBody(request.body, (json) => parseWith(signStorageSchema, json)));
      checkSize(body, options);
      const { size, projectId, key } = body;
      const nowMs = ports.now();
      const signed = await ports.signer.sign({
        operation: body.operation,
        objectPath: objectPathOf({ folder, projectId, key }),
        ...(options.bindContent && body.operation === 'put' && { contentSha256: key.slice(2).toLowerCase() }),
        ...(size !== undefined && { size }),
        nowMs,
        lifetimeSeconds: lifetimeOf(user, nowMs, options.lifetimeSeconds),
      });
      const { url, method, headers, expiresAtMs } = signed;
      const answer: SignedOperationBody = { url, method, headers, expiresAt: formatTime(expiresAtMs) };
      return jsonResponse(200, answer);
    },
  };
}
