import { expect, type TestContext } from 'vitest';
import { callApi } from './callApi.ts';
import type { Target } from './target.ts';

/** Gets a token of the development issuer. @param expiresIn - seconds */
export async function issueToken(target: Pick<Target, 'url'>, sub: string, expiresIn?: number): Promise<string> {
  const json = { sub, ...(expiresIn !== undefined && { expiresIn }) };
  const answer = await callApi(target, { method: 'POST', path: '/dev/identity/token', json });
  expect(answer.status, answer.text).toBe(200);
  const { access_token: token } = answer.body as { access_token: string };
  return token;
}

/** An access token of the run's n-th user; the test is skipped if there is none. */
export async function tokenOf(target: Target, { skip }: TestContext, user = 0): Promise<string> {
  if (target.hasDevIssuer) return await issueToken(target, `acceptance-${target.run}-${user}`);
  const token = target.tokens[user];
  if (token === undefined) return skip(`needs ${user + 1} access token(s): pass --token, once for each user`);
  return token;
}

/** A token that ends soon; the test is skipped if none can be made. @param expiresIn - seconds */
export async function shortTokenOf(target: Target, { skip }: TestContext, expiresIn: number): Promise<string> {
  if (!target.hasDevIssuer) return skip('needs the development issuer, to make a token that ends soon');
  return await issueToken(target, `acceptance-${target.run}-short`, expiresIn);
}
