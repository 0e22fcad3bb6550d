import * as z from 'zod/mini';
import {
  addressFormat,
  bytes32Format,
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
import type { Action } from './action.ts';

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

/** Runs a cross-field check even where fields have faults, so that one answer names them all; never on another type. */
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
