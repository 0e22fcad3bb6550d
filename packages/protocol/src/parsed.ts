import type * as z from 'zod/mini';
import { type Fault, faultsFromIssues } from './errors/fault.ts';

/** What came of parsing input from outside: a value to trust, or every fault found. */
export type Parsed<T> = { readonly value: T } | { readonly faults: readonly Fault[] };

/** Parses with a schema, naming faults as the wire does. */
export function parseWith<T extends z.ZodMiniType>(schema: T, input: unknown): Parsed<z.infer<T>> {
  const result = schema.safeParse(input);
  return result.success ? { value: result.data } : { faults: faultsFromIssues(result.error.issues) };
}
