import type * as z from 'zod/mini';
import { type Fault, faultsFromIssues, type Parsed } from '../errors/fault.ts';

/**
 * Reads the known parameters of a query, each once and not empty.
 *
 * @param reading.names - those that are known
 * @param reading.faults - gets what is wrong with the others of them
 */
export function readQueryFields(
  query: URLSearchParams,
  { names, faults }: { readonly names: readonly string[]; readonly faults: Fault[] },
): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const name of names) {
    const values = query.getAll(name);
    const [value] = values;
    if (value === undefined) continue;
    if (values.length > 1) faults.push({ path: name, message: 'expected once' });
    else if (value === '') faults.push({ path: name, message: 'expected a value, or no such parameter' });
    else fields[name] = value;
  }
  return fields;
}

/** A schema of an object whose fields are the parameters of a query, each as text. */
type QuerySchema<T> = z.ZodMiniType<T> & { readonly shape: Readonly<Record<string, z.ZodMiniType>> };

/**
 * Parses the parameters of a query that a schema names. Others are ignored; a known one may stand once and not empty.
 *
 * @returns the fields that are given, or every fault
 */
export function parseQuery<T>(schema: QuerySchema<T>, query: URLSearchParams): Parsed<T> {
  const faults: Fault[] = [];
  const result = schema.safeParse(readQueryFields(query, { names: Object.keys(schema.shape), faults }));
  // A parameter that stands twice is not missing, too.
  const known = new Set(faults.map(({ path }) => path));
  if (!result.success) faults.push(...faultsFromIssues(result.error.issues).filter(({ path }) => !known.has(path)));
  return result.success && faults.length === 0 ? { value: result.data } : { faults };
}
