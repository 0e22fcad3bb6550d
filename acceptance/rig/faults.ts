import { errorBodySchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import type { HttpResponse } from './httpMessage.ts';

/** The paths that a 400 names, in its order. */
export function faultPaths(answer: HttpResponse): string[] {
  expect(answer.status, answer.text).toBe(400);
  return (errorBodySchema.parse(answer.body).details ?? []).map(({ path }) => path);
}

/** The sentence of a failing answer. */
export function errorOf(answer: HttpResponse): string {
  return errorBodySchema.parse(answer.body).error;
}
