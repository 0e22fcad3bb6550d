import { isLoopback } from './isLoopback.ts';
import { DEV_ADMIN_KEY, type Settings } from './settings.ts';

const hostInUrl = (host: string) => (host.includes(':') ? `[${host}]` : host);

/**
 * Whether administrators and the development issuer are answered to this machine and private networks alone: everybody knows the
 * development key, and the address that is listened on may be anybody's to reach.
 *
 * @see docs/specification.md OPERATE-6
 */
export function answersAdminLocally({
  STAGE,
  HOST,
  adminKeys,
}: Pick<Settings, 'STAGE' | 'HOST' | 'adminKeys'>): boolean {
  if (STAGE !== 'dev' || !adminKeys.includes(DEV_ADMIN_KEY)) return false;
  const url = `http://${hostInUrl(HOST)}`;
  return !URL.canParse(url) || !isLoopback(url);
}
