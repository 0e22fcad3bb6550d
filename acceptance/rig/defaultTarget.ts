type Environment = Readonly<Record<string, string | undefined>>;

/** The address at which a gateway with the same settings answers. */
export function defaultUrl({ PUBLIC_URL, HOST, PORT }: Environment): string {
  if (PUBLIC_URL) return PUBLIC_URL;
  const host = HOST || '127.0.0.1';
  // One cannot call "every interface"; the loopback one is among them.
  const callable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${PORT || '8787'}`;
}

/** The admin key of a gateway with the same settings: the new one, while two are valid. */
export function defaultAdminKey({ ADMIN_API_KEY: keys = '' }: Environment): string {
  return keys.split(',')[0]?.trim() || 'change-me-admin-key';
}
