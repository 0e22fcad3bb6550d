import { createParamsArbitraries, requestArbitrary } from '@prism-gateway/testing/request-arbitraries';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ACTIONS } from '../actions/action.ts';
import { formatPath } from '../errors/fault.ts';
import { createRequestParser } from './create.ts';

const parse = createRequestParser({ maxBatchSize: 5 });

type Json = { [key: string]: Json } | Json[] | string | number;
type Path = readonly (string | number)[];

interface Place {
  readonly path: Path;
  readonly kind: 'text' | 'number' | 'object' | 'array';
}

/** Every place in a body, the body itself included. */
function listPlaces(value: Json, path: Path = []): Place[] {
  if (typeof value === 'string') return [{ path, kind: 'text' }];
  if (typeof value === 'number') return [{ path, kind: 'number' }];
  const kind = Array.isArray(value) ? 'array' : 'object';
  const children = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [{ path, kind }, ...children.flatMap(([key, child]) => listPlaces(child, [...path, key]))];
}

/** A deep copy in which the value at a path is what `edit` makes of it; undefined removes it. */
function editAt(value: Json, path: Path, edit: (value: Json) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return edit(value);
  // The path was listed from this value, so there is a container with that key here.
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  const edited = editAt(copy[key] as Json, rest, edit);
  if (edited === undefined) delete copy[key];
  else copy[key] = edited;
  return copy;
}

const at = (path: Path) => formatPath(path) || 'body';

function faultPathsOf(input: unknown): string[] {
  const parsed = parse(input);
  return 'faults' in parsed ? parsed.faults.map(({ path }) => path) : [];
}

/** Values that are right for no field but the two below. */
const strange = fc.constantFrom<unknown>(null, true, -1, 1.5, 256, NaN, '', ' ', '0x', '0xg', '-1', '1e3', '²', {}, []);

function isRight(path: Path, value: unknown): boolean {
  // A chain may be named `1e3`; `0x` is an empty payload.
  if (path[0] === 'chainName') return typeof value === 'string' && /^[0-9a-z]+$/.test(value);
  return value === '0x' && (path.at(-1) === 'payload' || path.at(-2) === 'payloads');
}

describe.each(ACTIONS)('%s', (action) => {
  // A body crosses the wire as JSON, and is compared as such.
  const bodies = requestArbitrary(action).map((body) => body as unknown as Json);

  test('any valid body passes as it is', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(parse(body)).toEqual({ value: body });
      }),
    );
  });

  test('a wrong value is named by exactly its path', () => {
    const spoilt = bodies.chain((body) => {
      const leaves = listPlaces(body).filter(({ kind, path }) => {
        // With another action, other params are right.
        return (kind === 'text' || kind === 'number') && path[0] !== 'action';
      });
      return fc.tuple(fc.constant(body), fc.constantFrom(...leaves), strange);
    });
    fc.assert(
      fc.property(spoilt, ([body, { path }, value]) => {
        fc.pre(!isRight(path, value));
        expect(faultPathsOf(editAt(body, path, () => value))).toEqual([at(path)]);
      }),
    );
  });

  test('a missing field is named by exactly its path, and told to be required', () => {
    const spoilt = bodies.chain((body) => {
      const fields = listPlaces(body).filter(({ path }) => typeof path.at(-1) === 'string' && path[0] !== 'action');
      return fc.tuple(fc.constant(body), fc.constantFrom(...fields));
    });
    const optional = new Set(['permit', 'relayerFundAmount']);
    fc.assert(
      fc.property(spoilt, ([body, { path }]) => {
        const parsed = parse(editAt(body, path, () => undefined));
        if (optional.has(String(path.at(-1)))) expect(parsed).toHaveProperty('value');
        else expect(parsed).toEqual({ faults: [{ path: at(path), message: expect.stringMatching(/^required: /) }] });
      }),
    );
  });

  test('an unknown field is named by exactly its path, at every level', () => {
    const names = fc.oneof(
      fc.constantFrom(
        '__proto__',
        'constructor',
        'prototype',
        'toString',
        'hasOwnProperty',
        '',
        ' ',
        '0',
        'a.b',
        'ä',
        '"',
      ),
      fc.string({ minLength: 1, maxLength: 20 }).map((name) => `x${name}`),
    );
    const spoilt = bodies.chain((body) => {
      const objects = listPlaces(body).filter(({ kind }) => kind === 'object');
      return fc.tuple(fc.constant(body), fc.constantFrom(...objects), names);
    });
    fc.assert(
      fc.property(spoilt, ([body, { path }, name]) => {
        // JSON.parse makes `__proto__` a field of its own, as a body has it; assignment would not.
        const add = (value: Json) => JSON.parse(`{${JSON.stringify(name)}:1,${JSON.stringify(value).slice(1)}`);
        expect(parse(editAt(body, path, add))).toEqual({
          faults: [{ path: formatPath([...path, name]), message: 'unknown field' }],
        });
      }),
    );
  });

  test('several faults are all named in one answer', () => {
    const leavesOf = (body: Json) =>
      listPlaces(body).filter(({ path, kind }) => kind === 'text' && path[0] === 'params');
    fc.assert(
      fc.property(bodies, (body) => {
        const leaves = leavesOf(body);
        const spoilt = leaves.reduce<Json>((all, { path }) => editAt(all, path, () => '?') as Json, body);
        expect(faultPathsOf(spoilt).sort()).toEqual(leaves.map(({ path }) => at(path)).sort());
      }),
      { numRuns: 20 },
    );
  });
});

test('whatever a body is, the parser answers with a value or with faults', () => {
  const strangeBody = fc.oneof(
    fc.jsonValue(),
    fc.record({ chainName: fc.jsonValue(), action: fc.constantFrom(...ACTIONS), params: fc.jsonValue() }),
    fc.record({
      chainName: fc.constant('local'),
      action: fc.constantFrom(...ACTIONS),
      params: fc.record(
        Object.fromEntries(
          ['dataIds', 'payloads', 'requests', 'permit', 'fundAmount', 'relayerFee', 'cloudId', 'v'].map((name) => [
            name,
            fc.oneof(fc.jsonValue(), fc.string({ minLength: 78, maxLength: 78 })),
          ]),
        ),
        { requiredKeys: [] },
      ),
    }),
  );
  fc.assert(
    fc.property(strangeBody, (body) => {
      const parsed = parse(body);
      if ('faults' in parsed) expect(parsed.faults.length).toBeGreaterThan(0);
      else expect(parsed.value).toEqual(body);
    }),
    { numRuns: 1000 },
  );
});

test('every action has an arbitrary', () => {
  expect(Object.keys(createParamsArbitraries()).sort()).toEqual([...ACTIONS].sort());
});
