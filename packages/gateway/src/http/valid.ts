import type { Parsed } from '@prism-gateway/protocol';
import { validationFailed } from './errors.ts';

/**
 * Takes the values of parsed parts, or refuses with the faults of all of them at once.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export function requireValid<T extends readonly unknown[]>(...parts: { [K in keyof T]: Parsed<T[K]> }): T {
  const faults = parts.flatMap((part) => ('faults' in part ? part.faults : []));
  if (faults.length > 0) throw validationFailed(faults);
  // Without faults, each part is a value of its own place's type.
  return parts.map((part) => 'value' in part && part.value) as unknown as T;
}
