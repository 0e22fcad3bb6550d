import * as z from 'zod/mini';
import { ERROR_CODES, type ErrorCode } from './errorCodes.ts';

/** One validation error: where, and what was expected. */
export interface Fault {
  /** Path from the body's or query's root, like `params.dataIds[2]`; `body` for the body itself. */
  readonly path: string;
  /** The expectation in words; it never repeats the value. */
  readonly message: string;
}

/** Most faults that one answer lists; a last entry says how many more there are. */
export const MAX_FAULTS = 1000;

const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
/** Longest part of an unknown key that is repeated in a path. */
const MAX_KEY_LENGTH = 100;

function appendToPath(path: string, key: PropertyKey): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const text = String(key);
  if (text.length <= MAX_KEY_LENGTH && identifier.test(text)) return path === '' ? text : `${path}.${text}`;
  const shown = text.length > MAX_KEY_LENGTH ? `${text.slice(0, MAX_KEY_LENGTH)}…` : text;
  return `${path}[${JSON.stringify(shown)}]`;
}

/** Writes a path like `params.dataIds[2]`; keys that are no identifiers stand as `["…"]`. */
export function formatPath(keys: readonly PropertyKey[]): string {
  return keys.reduce(appendToPath, '');
}

/**
 * Turns zod's issues into faults, one for each wrong place and one for each unknown field.
 *
 * @param issues - of a failed `safeParse`
 * @param prefix - keys that stand before each issue's own path
 * @returns faults in the order of the schema, without doubles
 */
export function faultsFromIssues(issues: readonly z.core.$ZodIssue[], prefix: readonly PropertyKey[] = []): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const issue of issues) {
    const path = formatPath([...prefix, ...issue.path]);
    if (issue.code === 'unrecognized_keys') {
      // A body can hold tens of thousands: nothing is done for each but to name it, once.
      for (const key of issue.keys) faults.push({ path: appendToPath(path, key), message: 'unknown field' });
    } else if (!seen.has(`${path}\n${issue.message}`)) {
      seen.add(`${path}\n${issue.message}`);
      faults.push({ path: path || 'body', message: issue.message });
    }
  }
  return faults;
}

/** Bounds a list of faults, so that a small body cannot make a huge answer. */
export function capFaults(faults: readonly Fault[]): readonly Fault[] {
  if (faults.length <= MAX_FAULTS) return faults;
  const more = { path: 'body', message: `and ${faults.length - MAX_FAULTS} more` };
  return [...faults.slice(0, MAX_FAULTS), more];
}

/** The result of parsing input from outside: a value to trust, or every fault found. */
export type Parsed<T> = { readonly value: T } | { readonly faults: readonly Fault[] };

/** Parses with a schema, naming faults as the wire does. */
export function parseWith<T extends z.ZodMiniType>(schema: T, input: unknown): Parsed<z.infer<T>> {
  const result = schema.safeParse(input);
  return result.success ? { value: result.data } : { faults: faultsFromIssues(result.error.issues) };
}

/**
 * Body of every failing answer.
 *
 * @see docs/specification.md ERROR-1, ERROR-2, ERROR-16
 */
export const errorBodySchema = z.strictObject({
  error: z.string().check(z.meta({ description: 'One human-readable sentence' })),
  // The table's keys are there.
  code: z
    .enum(Object.keys(ERROR_CODES) as [ErrorCode])
    .check(z.meta({ description: 'For programs; it keeps its meaning' })),
  details: z.optional(
    z.array(
      z.strictObject({
        path: z.string().check(z.meta({ description: 'Where, like `params.dataIds[2]`' })),
        message: z.string().check(z.meta({ description: 'What was expected' })),
      }),
    ),
  ),
});

export type ErrorBody = z.infer<typeof errorBodySchema>;
