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

const { WRITE_DATA_FOR, BATCH_DELETE_DATA_FOR, BATCH_MULTI_USER_WRITE_DATA } = EXAMPLE_REQUESTS;

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
