import type { Parsed } from '@prism-gateway/protocol';
import { validationFailed } from './errors.ts';

const isValid = (part: Parsed<unknown>): part is { readonly value: unknown } => 'value' in part;

/**
 * Takes the values of parsed parts, or refuses with the faults of all of them at once.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export function requireValid<T extends readonly unknown[]>(...parts: { [K in keyof T]: Parsed<T[K]> }): T {
  const all: readonly Parsed<unknown>[] = parts;
  // Each part is a value of its own place's type.
  if (all.every(isValid)) return all.map(({ value }) => value) as unknown as T;
  throw validationFailed(all.flatMap((part) => ('faults' in part ? part.faults : [])));
}
