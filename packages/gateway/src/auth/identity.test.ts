import { expect, test } from 'vitest';
import type { TokenVerifier } from '../ports/tokenVerifier.ts';
import { authenticateUser } from './identity.ts';

/** A port that tells what it was asked. */
const echo: TokenVerifier = {
  verify: async (token) => ({ issuer: 'https://issuer.example', userId: token, expiresAtMs: 0 }),
};

const authenticate = (authorization?: string) =>
  authenticateUser(
    echo,
    new Request('http://gateway.test/', { headers: authorization === undefined ? {} : { authorization } }),
  );

test.each([
  ['Bearer abc.def-ghi_~+/=', 'abc.def-ghi_~+/='],
  ['bearer abc', 'abc'],
  ['BEARER   abc', 'abc'],
  ['Bearer abc==', 'abc=='],
  [`Bearer ${'a'.repeat(16_377)}`, 'a'.repeat(16_377)],
])('%.40s names its token', async (header, token) => {
  expect(await authenticate(header)).toMatchObject({ userId: token });
});

test.each([
  '',
  'Bearer',
  'Bearer ',
  'Bearerabc',
  'Bearer a b',
  'Bearer a,b',
  'Bearer a=b',
  'Bearer "abc"',
  'Bearer \u00e9',
  'Basic abc',
  'abc',
  'Token Bearer abc',
  'Bearer abc, Bearer def',
  `Bearer ${'a'.repeat(16_378)}`,
])('%.40j is refused', async (header) => {
  const message = 'The Authorization header is not Bearer and an access token.';
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'TOKEN_REJECTED', status: 401, message });
});

test('without the header that is said', async () => {
  const message = 'The Authorization header is missing; send Bearer and an access token.';
  await expect(authenticate()).rejects.toMatchObject({ code: 'TOKEN_REJECTED', status: 401, message });
});
