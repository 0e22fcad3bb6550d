import * as z from 'zod/mini';
import { ACTIONS, type Action, isAction } from '../actions/action.ts';
import { type ActionParams, createParamsSchemas, type ParamsSchemas, sharedParamsSchema } from '../actions/params.ts';
import type { Parsed } from '../errors/fault.ts';
import { faultsFromIssues } from '../errors/fault.ts';
import { chainNameFormat, expecting } from '../formats.ts';

/** Body of `POST /requests`. */
export type CreateRequestBody = {
  [A in Action]: { readonly chainName: string; readonly action: A; readonly params: ActionParams<A> };
}[Action];

function isParamsObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const envelope = z.strictObject(
  {
    chainName: chainNameFormat,
    action: z.enum(ACTIONS, { error: expecting(`one of ${ACTIONS.join(', ')}`) }),
    // Not `z.record`, which looks at every key of a params object that its own schema is to look at anyway.
    params: z.custom(isParamsObject, { error: expecting('an object') }),
  },
  { error: expecting('an object') },
);

/** The body's schema for one action, with its params. */
export function createRequestSchemaOf(action: Action, paramsSchemas: ParamsSchemas) {
  return z.strictObject({ chainName: chainNameFormat, action: z.literal(action), params: paramsSchemas[action] });
}

/**
 * Makes the parser of `POST /requests`.
 *
 * @param limits.maxBatchSize - most entries of a batch array
 * @returns a function from parsed JSON to a trusted body or every fault, params included whatever else is wrong
 * @see docs/specification.md CREATE-1
 */
export function createRequestParser(limits: { readonly maxBatchSize: number }) {
  const paramsSchemas = createParamsSchemas(limits);
  return function parseCreateRequest(input: unknown): Parsed<CreateRequestBody> {
    const outer = envelope.safeParse(input);
    let faults = outer.success ? [] : faultsFromIssues(outer.error.issues);
    const { action, params } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
    if (isParamsObject(params)) {
      const inner = (isAction(action) ? paramsSchemas[action] : sharedParamsSchema).safeParse(params);
      // Not `push(...)`: as many arguments as a stranger sends fields would overflow the stack.
      if (!inner.success) faults = faults.concat(faultsFromIssues(inner.error.issues, ['params']));
    }
    // Both schemas have passed the value whole, so it is a body of that action.
    return faults.length === 0 ? { value: input as CreateRequestBody } : { faults };
  };
}
