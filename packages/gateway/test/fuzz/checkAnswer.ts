import { CORS_HEADERS, ERROR_CODES } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import type { WireAnswer } from '../rigs/parseAnswers.ts';

/** The methods of local objects, in place of the API's. */
const OBJECT_METHODS = 'GET, PUT, HEAD, DELETE';

function checkCors({ headers }: WireAnswer): void {
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*' });
  if (headers['access-control-allow-methods'] !== OBJECT_METHODS) expect(headers).toMatchObject(CORS_HEADERS);
}

const isText = (value: unknown) => typeof value === 'string' && value !== '';

/** Whether a value is `{ error, code, details? }`, and nothing beside. */
function isErrorBody(value: unknown): boolean {
  const { error, code, details = [], ...rest } = Object(value);
  if (!isText(error) || !Object.hasOwn(ERROR_CODES, code) || !Array.isArray(details) || Object.keys(rest).length > 0)
    return false;
  return details.every(({ path, message, ...more }) => isText(path) && isText(message) && !Object.keys(more).length);
}

function checkError({ headers, body }: WireAnswer): void {
  expect(headers['content-type']).toMatch(/^application\/json\b/);
  // An answer to HEAD has none.
  if (body !== '') expect(JSON.parse(body)).toSatisfy(isErrorBody);
}

/** Checks what holds for every answer, whatever was asked: no 5xx, CORS, the error's shape, and nothing of the inside. */
export function checkAnswer(
  answer: WireAnswer,
  { secrets, mayBeBusy = false }: { readonly secrets: readonly string[]; readonly mayBeBusy?: boolean },
): void {
  if (mayBeBusy && answer.status === 503) expect(answer.headers).toHaveProperty('retry-after');
  else expect(answer.status, answer.body).toBeLessThan(500);
  expect(answer.status).toBeGreaterThanOrEqual(200);
  checkCors(answer);
  if (answer.status >= 400) checkError(answer);
  expect(answer.body).not.toMatch(/\n\s+at .+:\d+:\d+/);
  for (const secret of secrets) expect(answer.body).not.toContain(secret);
}
