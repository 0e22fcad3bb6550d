import type { Action, ActionParams, CreateRequestBody } from '@prism-gateway/protocol';
import fc from 'fast-check';

/** How large the requests may get. */
export interface RequestArbitraryLimits {
  /** Most entries of a batch array; 5 unless given. */
  readonly maxBatchSize?: number;
  /** Most bytes of one payload; 64 unless given. */
  readonly maxPayloadBytes?: number;
}

type ParamsArbitraries = { readonly [A in Action]: fc.Arbitrary<ActionParams<A>> };

const uint256Max = 2n ** 256n - 1n;

/** `0x` and whole bytes, in either letter case: the wire takes both. */
function hexArbitrary(minBytes: number, maxBytes: number): fc.Arbitrary<string> {
  const bytes = fc.uint8Array({ minLength: minBytes, maxLength: maxBytes });
  return fc.tuple(bytes, fc.boolean()).map(([value, upper]) => {
    const digits = Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return `0x${upper ? digits.toUpperCase() : digits}`;
  });
}

/** A record as JSON makes it: with a prototype. The keys that are not required may be absent. */
function record<T, K extends keyof T = keyof T>(
  fields: { [Key in keyof T]: fc.Arbitrary<T[Key]> },
  required: { requiredKeys?: K[] } = {},
) {
  return fc.record<T, K>(fields, { ...required, noNullPrototype: true });
}

const decimal = fc.bigInt({ min: 0n, max: uint256Max }).map(String);
const positiveDecimal = fc.bigInt({ min: 1n, max: uint256Max }).map(String);
const address = fc
  .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 40, maxLength: 40 })
  .map((digits) => `0x${digits}`);
const id = hexArbitrary(1, 32);
const half = hexArbitrary(32, 32);
const signature = { v: fc.oneof(fc.constantFrom(27, 28), fc.integer({ min: 0, max: 255 })), r: half, s: half };
const shared = { relayerFee: decimal, timestamp: decimal, signer: address, ...signature };
const chainName = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/);
const permit = record({ deadline: decimal, ...signature });

/** Funds and a permit that go together: no permit without funds. */
const funds = fc.oneof(
  fc.constant({ fundAmount: '0' }),
  record({ fundAmount: positiveDecimal, permit }, { requiredKeys: ['fundAmount'] }),
);

const creation = fc
  .tuple(
    record(
      { relayerFundAmount: decimal, salt: id, ...shared },
      { requiredKeys: ['salt', 'relayerFee', 'timestamp', 'signer', 'v', 'r', 's'] },
    ),
    funds,
  )
  .map(([params, funding]) => ({ ...params, ...funding }));

/** As many payloads as ids. */
function entriesArbitrary(maxBatchSize: number, payload: fc.Arbitrary<string>) {
  return fc
    .array(fc.tuple(id, payload), { minLength: 1, maxLength: maxBatchSize })
    .map((entries) => ({ dataIds: entries.map(([dataId]) => dataId), payloads: entries.map(([, data]) => data) }));
}

/**
 * Makes an arbitrary of valid params for each action. Signatures are random bytes of the right form: the service checks
 * no more than that.
 */
export function createParamsArbitraries(limits: RequestArbitraryLimits = {}): ParamsArbitraries {
  const { maxBatchSize = 5, maxPayloadBytes = 64 } = limits;
  const payload = hexArbitrary(0, maxPayloadBytes);
  const entries = entriesArbitrary(maxBatchSize, payload);
  const prism = record({ cloudId: id, ...shared });
  const write = record({ cloudId: id, dataId: id, payload, ...shared });
  const batchWrite = fc.tuple(prism, entries).map(([params, batch]) => ({ ...params, ...batch }));
  return {
    CREATE_PRISM_FOR: creation,
    WRITE_DATA_FOR: write,
    MODIFY_DATA_FOR: write,
    DELETE_DATA_FOR: record({ cloudId: id, dataId: id, ...shared }),
    TRANSFER_PRISM_FOR: record({ cloudId: id, newOwner: address, ...shared }),
    ACCEPT_TRANSFER_FOR: prism,
    DELETE_PRISM_FOR: prism,
    BATCH_WRITE_DATA_FOR: batchWrite,
    BATCH_MODIFY_DATA_FOR: batchWrite,
    BATCH_DELETE_DATA_FOR: record({
      cloudId: id,
      dataIds: fc.array(id, { minLength: 1, maxLength: maxBatchSize }),
      ...shared,
    }),
    BATCH_MULTI_USER_WRITE_DATA: record({
      requests: fc.array(write, { minLength: 1, maxLength: maxBatchSize }),
      ...shared,
    }),
    CREATE_PRISM_WITH_DATA_FOR: fc.tuple(creation, entries).map(([params, batch]) => ({ ...params, ...batch })),
  };
}

/**
 * Makes an arbitrary of valid bodies of `POST /requests` for one action.
 *
 * @example fc.property(requestArbitrary('WRITE_DATA_FOR'), (body) => …)
 */
export function requestArbitrary<A extends Action>(
  action: A,
  limits: RequestArbitraryLimits = {},
): fc.Arbitrary<Extract<CreateRequestBody, { readonly action: A }>> {
  const params = createParamsArbitraries(limits)[action];
  const body = record({ chainName, action: fc.constant(action), params });
  // A body is its action with that action's params; TypeScript does not see it through the generic.
  return body as unknown as fc.Arbitrary<Extract<CreateRequestBody, { readonly action: A }>>;
}

/** Makes an arbitrary of valid bodies of `POST /requests`, of any action. */
export function anyRequestArbitrary(limits: RequestArbitraryLimits = {}): fc.Arbitrary<CreateRequestBody> {
  // The keys of the arbitraries are the actions.
  const actions = Object.keys(createParamsArbitraries()) as Action[];
  return fc.oneof(...actions.map((action) => requestArbitrary(action, limits)));
}
