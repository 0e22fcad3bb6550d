const loopbackIpv4 = /^127(\.\d{1,3}){3}$/;

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return loopbackIpv4.test(hostname);
}

/**
 * Checks that tokens and keys may travel to a URL: `https`, or `http` if it cannot be overheard.
 *
 * @param text - absolute URL
 * @param options - `allowInsecureHttp`: plain `http` to any host (development only); a loopback host may always have it
 * @returns the parsed URL
 * @throws TypeError when it is no URL, not secure enough, or holds credentials
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-4 which asks for TLS
 */
export function requireSecureUrl(text: string, options: { readonly allowInsecureHttp: boolean }): URL {
  if (!URL.canParse(text)) throw new TypeError(`"${text}" is not an absolute URL`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw new TypeError(`"${url.host}" must stand without a user name and password`);
  if (url.protocol === 'https:') return url;
  if (url.protocol === 'http:' && (options.allowInsecureHttp || isLoopback(url.hostname))) return url;
  throw new TypeError(`"${url.protocol}//${url.host}" must be https, or http to a loopback host`);
}
