import { errorBodySchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import type { Answer } from './call.ts';

/** The paths that a 400 names, in its order. */
export function faultPaths(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(400);
  return (errorBodySchema.parse(answer.body).details ?? []).map(({ path }) => path);
}

/** The sentence of a failing answer. */
export function errorOf(answer: Answer): string {
  return errorBodySchema.parse(answer.body).error;
}
