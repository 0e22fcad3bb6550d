/**
 * Gets access tokens of different users from a gateway's development issuer.
 *
 * @param url the gateway's address
 * @param count how many users
 * @returns one token a user
 * @throws Error when the issuer gives none
 * @see docs/specification.md TOKEN-8
 */
export async function fetchTokens(url: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let user = 0; user < count; user += 1) {
    const answer = await fetch(`${url}/dev/identity/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sub: `bench-user-${user}` }),
    });
    const body: unknown = await answer.json();
    tokens.push(readToken(body));
  }
  return tokens;
}

/** The issuer speaks OAuth (`access_token`); a plain `token` is taken too. */
function readToken(body: unknown): string {
  if (typeof body === 'object' && body !== null) {
    if ('access_token' in body && typeof body.access_token === 'string') return body.access_token;
    if ('token' in body && typeof body.token === 'string') return body.token;
  }
  throw new Error('The development issuer gave no token.');
}
