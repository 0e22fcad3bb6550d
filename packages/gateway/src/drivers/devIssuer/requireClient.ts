import { createHash, timingSafeEqual } from 'node:crypto';
import { RefusalError } from './refusalError.ts';

/** The app as the development issuer knows it. */
export interface Client {
  readonly appId: string;
  readonly appSecret: string;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The form encoding that RFC 6749, section 2.3.1 puts on each half; undefined where it is broken. */
function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function parseBasic(header: string): Client | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const [id, ...rest] = Buffer.from(encoded, 'base64').toString().split(':');
  const appId = formDecode(id ?? '');
  const appSecret = formDecode(rest.join(':'));
  return appId === undefined || appSecret === undefined ? undefined : { appId, appSecret };
}

/**
 * Checks HTTP Basic credentials in a time that does not depend on how much of them is right.
 *
 * @param client - the right ones
 * @param header - value of `Authorization`, or null
 * @throws RefusalError 401
 */
export function requireClient(client: Client, header: string | null): void {
  const given = header === null ? undefined : parseBasic(header);
  const sameId = timingSafeEqual(digest(given?.appId ?? ''), digest(client.appId));
  const sameSecret = timingSafeEqual(digest(given?.appSecret ?? ''), digest(client.appSecret));
  if (given !== undefined && sameId && sameSecret) return;
  throw new RefusalError('The app id or the app secret is wrong or missing.', {
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="development issuer"' },
  });
}
