import * as z from 'zod/mini';
import { ACTIONS, type Action, isAction } from '../actions/action.ts';
import { faultsFromIssues, type Parsed } from '../errors/fault.ts';
import {
  addressFormat,
  bytes32Format,
  chainNameFormat,
  cloudIdFormat,
  dataIdFormat,
  deadlineFormat,
  expecting,
  fundAmountFormat,
  payloadFormat,
  recoveryValueFormat,
  relayerFeeFormat,
  relayerFundAmountFormat,
  saltFormat,
  timestampFormat,
} from '../formats.ts';
import { parseQuery } from './query.ts';

const signature = { v: recoveryValueFormat, r: bytes32Format, s: bytes32Format };
const shared = { relayerFee: relayerFeeFormat, timestamp: timestampFormat, signer: addressFormat, ...signature };
const objectError = { error: expecting('an object') };
const entry = { cloudId: cloudIdFormat, dataId: dataIdFormat };

const permit = z
  .strictObject({ deadline: deadlineFormat, ...signature }, objectError)
  .check(z.meta({ description: 'EIP-2612 permit for the credit token; only with a fundAmount above 0' }));

const creation = {
  fundAmount: fundAmountFormat,
  relayerFundAmount: z.optional(relayerFundAmountFormat),
  salt: saltFormat,
  permit: z.optional(permit),
};

const writeEntry = z.strictObject(
  {
    signer: addressFormat,
    ...entry,
    payload: payloadFormat,
    relayerFee: relayerFeeFormat,
    timestamp: timestampFormat,
    ...signature,
  },
  objectError,
);

/** Runs a cross-field check even if fields have faults, so that one answer names them all; never on another type. */
const onObjects = { when: ({ value }: z.core.ParsePayload) => typeof value === 'object' && value !== null };

const permitNeedsFunds = z.check<{ fundAmount?: unknown; permit?: unknown }>((payload) => {
  const { fundAmount, permit } = payload.value;
  if (fundAmount === '0' && permit !== undefined) {
    payload.issues.push({
      code: 'custom',
      path: ['permit'],
      message: 'expected no permit when fundAmount is 0',
      input: permit,
    });
  }
}, onObjects);

const equalLengths = z.check<{ dataIds?: unknown; payloads?: unknown }>((payload) => {
  const { dataIds, payloads } = payload.value;
  if (Array.isArray(dataIds) && Array.isArray(payloads) && dataIds.length !== payloads.length) {
    const message = `expected as many payloads as dataIds (${dataIds.length})`;
    payload.issues.push({ code: 'custom', path: ['payloads'], message, input: payloads });
  }
}, onObjects);

/**
 * A batch array. One that is too long is refused as a whole: its entries are not looked at, so that a body's cost and its
 * number of faults stay bounded.
 */
function batch<T extends z.ZodMiniType>(element: T, maxBatchSize: number) {
  const expected = `an array of 1 to ${maxBatchSize} entries`;
  const error = expecting(expected);
  const bounded = z.array(z.unknown(), { error }).check(z.maxLength(maxBatchSize, { error }));
  const entries = z
    .array(element, { error })
    .check(z.minLength(1, { error }), z.meta({ minItems: 1, maxItems: maxBatchSize }));
  return z.pipe(bounded, entries);
}

/**
 * The params schema of each action, strict at every level.
 *
 * @param limits.maxBatchSize - most entries of a batch array
 * @see docs/specification.md PARAM-1
 */
export function createParamsSchemas(limits: { readonly maxBatchSize: number }) {
  const dataIds = batch(dataIdFormat, limits.maxBatchSize);
  const payloads = batch(payloadFormat, limits.maxBatchSize);
  const requests = batch(writeEntry, limits.maxBatchSize);
  const params = <Shape extends z.core.$ZodShape>(shape: Shape) => z.strictObject({ ...shape, ...shared }, objectError);
  const batchWrite = params({ cloudId: cloudIdFormat, dataIds, payloads }).check(equalLengths);
  const write = params({ ...entry, payload: payloadFormat });
  return {
    CREATE_PRISM_FOR: params(creation).check(permitNeedsFunds),
    WRITE_DATA_FOR: write,
    MODIFY_DATA_FOR: write,
    DELETE_DATA_FOR: params(entry),
    TRANSFER_PRISM_FOR: params({ cloudId: cloudIdFormat, newOwner: addressFormat }),
    ACCEPT_TRANSFER_FOR: params({ cloudId: cloudIdFormat }),
    DELETE_PRISM_FOR: params({ cloudId: cloudIdFormat }),
    BATCH_WRITE_DATA_FOR: batchWrite,
    BATCH_MODIFY_DATA_FOR: batchWrite,
    BATCH_DELETE_DATA_FOR: params({ cloudId: cloudIdFormat, dataIds }),
    BATCH_MULTI_USER_WRITE_DATA: params({ requests }),
    CREATE_PRISM_WITH_DATA_FOR: params({ ...creation, dataIds, payloads }).check(permitNeedsFunds, equalLengths),
  } satisfies Record<Action, z.ZodMiniType>;
}

/** Checks the shared fields only, for a body whose action is unknown. */
export const sharedParamsSchema = z.looseObject(shared, objectError);

export type ParamsSchemas = ReturnType<typeof createParamsSchemas>;

/** The params of one action, as they cross the wire. */
export type ActionParams<A extends Action = Action> = z.infer<ParamsSchemas[A]>;

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
 * @param limits.chains - the only names that `chainName` may have; absent: any
 * @returns a function from parsed JSON to a trusted body or every fault, params included whatever else is wrong
 * @see docs/specification.md CREATE-1, PARAM-13
 */
export function createRequestParser(limits: { readonly maxBatchSize: number; readonly chains?: readonly string[] }) {
  const paramsSchemas = createParamsSchemas(limits);
  const { chains } = limits;
  return function parseCreateRequest(input: unknown): Parsed<CreateRequestBody> {
    const outer = envelope.safeParse(input);
    let faults = outer.success ? [] : faultsFromIssues(outer.error.issues);
    const { action, params } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
    if (isParamsObject(params)) {
      const inner = (isAction(action) ? paramsSchemas[action] : sharedParamsSchema).safeParse(params);
      // Not `push(...)`: as many arguments as a stranger sends fields would overflow the stack.
      if (!inner.success) faults = faults.concat(faultsFromIssues(inner.error.issues, ['params']));
    }
    if (outer.success && chains?.includes(outer.data.chainName) === false) {
      faults = [{ path: 'chainName', message: `expected one of ${chains.join(', ')}` }, ...faults];
    }
    // Both schemas have passed the value whole, so it is a body of that action.
    return faults.length === 0 ? { value: input as CreateRequestBody } : { faults };
  };
}

/** Query of `POST /requests`. */
export interface CreateRequestQuery {
  /** Whether a record that carries the same signature is the answer instead. */
  readonly once: boolean;
}

const querySchema = z.object({ once: z.optional(z.enum(['true', 'false'], { error: expecting('true or false') })) });

/**
 * Parses the query of a submission.
 *
 * @see docs/specification.md ONCE-1
 */
export function parseCreateQuery(query: URLSearchParams): Parsed<CreateRequestQuery> {
  const parsed = parseQuery(querySchema, query);
  return 'faults' in parsed ? parsed : { value: { once: parsed.value.once === 'true' } };
}
