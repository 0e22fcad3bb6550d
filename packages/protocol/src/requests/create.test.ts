import { describe, expect, test } from 'vitest';
import { ACTIONS } from '../actions/action.ts';
import { EXAMPLE_REQUESTS } from '../examples/index.ts';
import { createRequestParser } from './create.ts';

const parse = createRequestParser({ maxBatchSize: 3 });
const faultsOf = (input: unknown) => {
  const parsed = parse(input);
  return 'faults' in parsed ? parsed.faults : [];
};
const pathsOf = (input: unknown) => faultsOf(input).map(({ path }) => path);

const { WRITE_DATA_FOR, CREATE_PRISM_FOR, CREATE_PRISM_WITH_DATA_FOR, BATCH_WRITE_DATA_FOR } = EXAMPLE_REQUESTS;
const { BATCH_MODIFY_DATA_FOR, BATCH_DELETE_DATA_FOR, BATCH_MULTI_USER_WRITE_DATA } = EXAMPLE_REQUESTS;

/** The example with some params replaced, as JSON: a param that is undefined is left out. */
const withParams = (body: { readonly params: object }, params: object): unknown =>
  JSON.parse(JSON.stringify({ ...body, params: { ...body.params, ...params } }));

describe('the body', () => {
  test.each([[null], [undefined], [1], ['text'], [true], [[]], [[WRITE_DATA_FOR]]])('of %j is no object', (body) => {
    expect(faultsOf(body)).toEqual([
      { path: 'body', message: expect.stringMatching(/^(?:required: )?expected an object$/) },
    ]);
  });

  test('needs chainName, action and params', () => {
    expect(pathsOf({})).toEqual(['chainName', 'action', 'params']);
    for (const { message } of faultsOf({})) expect(message).toMatch(/^required: expected /);
  });

  test('takes no other action', () => {
    expect(faultsOf({ ...WRITE_DATA_FOR, action: 'WRITE_DATA' })).toEqual([
      { path: 'action', message: `expected one of ${ACTIONS.join(', ')}` },
    ]);
  });

  test.each([['toString'], ['__proto__'], ['constructor']])('takes %s for no action', (action) => {
    expect(pathsOf({ ...WRITE_DATA_FOR, action })).toEqual(['action']);
  });

  test.each([[null], ['text'], [1], [[]], [[{}]]])('takes no params of %j', (params) => {
    expect(pathsOf({ ...WRITE_DATA_FOR, params })).toEqual(['params']);
  });

  test('with an unknown action has its shared params checked all the same', () => {
    const params = { signer: '0x1', relayerFee: '01', anything: 1 };
    expect(pathsOf({ chainName: 'local', action: 'NOTHING', params })).toEqual([
      'action',
      'params.relayerFee',
      'params.timestamp',
      'params.signer',
      'params.v',
      'params.r',
      'params.s',
    ]);
  });

  test('has faults of every part named at once', () => {
    const outer = { ...WRITE_DATA_FOR, chainName: '-', extra: 1 };
    const body = withParams(outer, { v: 300, x: 1 });
    expect(pathsOf(body)).toEqual(['chainName', 'extra', 'params.v', 'params.x']);
  });

  test('with an own `__proto__` is refused, and pollutes nothing', () => {
    const body = JSON.parse(`{"__proto__":{"polluted":1},${JSON.stringify(WRITE_DATA_FOR).slice(1)}`);
    expect(faultsOf(body)).toEqual([{ path: '__proto__', message: 'unknown field' }]);
    expect({}).not.toHaveProperty('polluted');
  });

  test('does not take fields from `__proto__`', () => {
    const { chainName, ...rest } = WRITE_DATA_FOR;
    const body = JSON.parse(`{"__proto__":{"chainName":"${chainName}"},${JSON.stringify(rest).slice(1)}`);
    expect(pathsOf(body)).toEqual(['chainName', '__proto__']);
  });
});

describe('a field of another action is unknown', () => {
  test.each(ACTIONS)('to %s', (action) => {
    const foreign = [
      'cloudId',
      'dataId',
      'payload',
      'dataIds',
      'payloads',
      'newOwner',
      'fundAmount',
      'salt',
      'requests',
    ];
    const example = EXAMPLE_REQUESTS[action];
    for (const field of foreign.filter((name) => !(name in example.params))) {
      expect(faultsOf(withParams(example, { [field]: '0x00' }))).toEqual([
        { path: `params.${field}`, message: 'unknown field' },
      ]);
    }
  });
});

describe.each([
  ['CREATE_PRISM_FOR', CREATE_PRISM_FOR],
  ['CREATE_PRISM_WITH_DATA_FOR', CREATE_PRISM_WITH_DATA_FOR],
] as const)('the permit of %s', (_, example) => {
  const { permit } = CREATE_PRISM_FOR.params;

  test('goes with a fundAmount above 0', () => {
    expect(pathsOf(withParams(example, { fundAmount: '1', permit }))).toEqual([]);
  });

  test('may be left out with any fundAmount', () => {
    for (const fundAmount of ['0', '1']) {
      expect(pathsOf(withParams(example, { fundAmount, permit: undefined }))).toEqual([]);
    }
  });

  test('is refused when fundAmount is 0', () => {
    expect(faultsOf(withParams(example, { fundAmount: '0', permit }))).toEqual([
      { path: 'params.permit', message: 'expected no permit when fundAmount is 0' },
    ]);
  });

  test('is refused when fundAmount is 0, whatever else is wrong', () => {
    expect(pathsOf(withParams(example, { fundAmount: '0', permit: { ...permit, v: -1 }, salt: 1 })).sort()).toEqual([
      'params.permit',
      'params.permit.v',
      'params.salt',
    ]);
  });

  test('has its own fields named', () => {
    expect(pathsOf(withParams(example, { fundAmount: '1', permit: {} }))).toEqual([
      'params.permit.deadline',
      'params.permit.v',
      'params.permit.r',
      'params.permit.s',
    ]);
    expect(pathsOf(withParams(example, { fundAmount: '1', permit: { ...permit, value: '1' } }))).toEqual([
      'params.permit.value',
    ]);
    expect(pathsOf(withParams(example, { fundAmount: '1', permit: null }))).toEqual(['params.permit']);
  });
});

describe.each([
  ['dataIds', BATCH_DELETE_DATA_FOR, '0x01'],
  ['requests', BATCH_MULTI_USER_WRITE_DATA, BATCH_MULTI_USER_WRITE_DATA.params.requests[0]],
] as const)('the batch array %s', (field, example, entry) => {
  const withEntries = (entries: unknown) => withParams(example, { [field]: entries });

  test('takes 1 to maxBatchSize entries', () => {
    for (const length of [1, 2, 3]) expect(pathsOf(withEntries(Array(length).fill(entry)))).toEqual([]);
  });

  test.each([
    ['no entry', []],
    ['one too many', Array(4).fill(entry)],
    ['null', null],
    ['a text', 'abc'],
    ['an object with a length', { length: 2 }],
  ])('refuses %s', (_, entries) => {
    expect(faultsOf(withEntries(entries))).toEqual([
      { path: `params.${field}`, message: 'expected an array of 1 to 3 entries' },
    ]);
  });

  test('is required', () => {
    expect(faultsOf(withEntries(undefined))).toEqual([
      { path: `params.${field}`, message: 'required: expected an array of 1 to 3 entries' },
    ]);
  });

  test('has each wrong entry named by its place', () => {
    expect(pathsOf(withEntries([entry, null, 1]))).toEqual([`params.${field}[1]`, `params.${field}[2]`]);
  });
});

test('an entry of several users is strict, and has its fields named', () => {
  const [entry] = BATCH_MULTI_USER_WRITE_DATA.params.requests;
  const spoilt = [entry, { ...entry, payload: '0x1', permit: {} }, {}];
  expect(pathsOf(withParams(BATCH_MULTI_USER_WRITE_DATA, { requests: spoilt }))).toEqual([
    'params.requests[1].payload',
    'params.requests[1].permit',
    ...['signer', 'cloudId', 'dataId', 'payload', 'relayerFee', 'timestamp', 'v', 'r', 's'].map(
      (field) => `params.requests[2].${field}`,
    ),
  ]);
});

describe.each([
  ['BATCH_WRITE_DATA_FOR', BATCH_WRITE_DATA_FOR],
  ['BATCH_MODIFY_DATA_FOR', BATCH_MODIFY_DATA_FOR],
  ['CREATE_PRISM_WITH_DATA_FOR', CREATE_PRISM_WITH_DATA_FOR],
] as const)('the arrays of %s', (_, example) => {
  test('must be of equal length', () => {
    expect(faultsOf(withParams(example, { dataIds: ['0x01', '0x02'], payloads: ['0x'] }))).toEqual([
      { path: 'params.payloads', message: 'expected as many payloads as dataIds (2)' },
    ]);
  });

  test('must be of equal length, whatever else is wrong', () => {
    expect(pathsOf(withParams(example, { dataIds: ['0x01', '0x'], payloads: ['0x1'] })).sort()).toEqual([
      'params.dataIds[1]',
      'params.payloads',
      'params.payloads[0]',
    ]);
  });

  test('are not compared when one is no array', () => {
    expect(pathsOf(withParams(example, { dataIds: null, payloads: ['0x'] }))).toEqual(['params.dataIds']);
  });
});

describe('a hostile body of 256 kB', () => {
  const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, 1]));

  test('of many wrong entries has one fault, for they are too many', () => {
    expect(pathsOf(withParams(BATCH_DELETE_DATA_FOR, { dataIds: Array(130_000).fill(1) }))).toEqual(['params.dataIds']);
    expect(pathsOf(withParams(BATCH_MULTI_USER_WRITE_DATA, { requests: Array(87_000).fill({}) }))).toEqual([
      'params.requests',
    ]);
  });

  test('of many unknown fields has each named', () => {
    expect(faultsOf({ ...WRITE_DATA_FOR, ...wide })).toHaveLength(30_000);
    expect(faultsOf(withParams(WRITE_DATA_FOR, wide))).toHaveLength(30_000);
  });

  test('of more unknown fields than a call has arguments is answered all the same', () => {
    // More than 256 kB hold, for a service whose MAX_BODY_BYTES is raised.
    const wider = Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`k${i}`, 1]));
    expect(faultsOf(withParams(WRITE_DATA_FOR, wider))).toHaveLength(150_000);
  });
});
