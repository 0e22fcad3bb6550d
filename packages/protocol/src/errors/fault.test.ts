import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { capFaults, faultsFromIssues, formatPath, MAX_FAULTS } from './fault.ts';

describe('a path', () => {
  test.each([
    [['params', 'dataIds', 2], 'params.dataIds[2]'],
    [['params', 'requests', 0, 'payload'], 'params.requests[0].payload'],
    [['signer'], 'signer'],
    [[], ''],
    [[''], '[""]'],
    [['params', ''], 'params[""]'],
    [['params', 'a.b'], 'params["a.b"]'],
    [['params', '0'], 'params["0"]'],
    [['params', 'a"b\n'], 'params["a\\"b\\n"]'],
    [['params', '__proto__'], 'params.__proto__'],
    [['params', 'ä'], 'params["ä"]'],
    [['params', '\ud800'], 'params["\\ud800"]'],
    [['$a_1'], '$a_1'],
  ])('of %j is %s', (keys, path) => {
    expect(formatPath(keys)).toBe(path);
  });

  test('shows no more than 100 letters of a key', () => {
    expect(formatPath(['k'.repeat(100)])).toBe('k'.repeat(100));
    expect(formatPath(['k'.repeat(262_144)])).toBe(`["${'k'.repeat(100)}…"]`);
  });
});

describe('faults', () => {
  const schema = z.strictObject({ a: z.strictObject({ b: z.string({ error: 'expected a text' }) }) });
  const issuesOf = (input: unknown) => schema.safeParse(input).error?.issues ?? [];

  test('stand one for each wrong place and one for each unknown field', () => {
    expect(faultsFromIssues(issuesOf({ a: { b: 1, x: 1, y: 1 }, z: 1 }))).toEqual([
      { path: 'a.b', message: 'expected a text' },
      { path: 'a.x', message: 'unknown field' },
      { path: 'a.y', message: 'unknown field' },
      { path: 'z', message: 'unknown field' },
    ]);
  });

  test('carry the prefix', () => {
    expect(faultsFromIssues(issuesOf({ a: { b: 1 } }), ['params', 3])).toEqual([
      { path: 'params[3].a.b', message: 'expected a text' },
    ]);
  });

  test('of the whole input are at `body`', () => {
    expect(faultsFromIssues(issuesOf(1)).map(({ path }) => path)).toEqual(['body']);
  });

  test('are not doubled', () => {
    const issues = [...issuesOf({ a: { b: 1 } }), ...issuesOf({ a: { b: 2 } })];
    expect(faultsFromIssues(issues)).toHaveLength(1);
  });
});

describe('a list of faults', () => {
  const faults = (count: number) => Array.from({ length: count }, (_, i) => ({ path: `a[${i}]`, message: 'expected' }));

  test('is given whole up to its bound', () => {
    expect(capFaults(faults(MAX_FAULTS))).toEqual(faults(MAX_FAULTS));
  });

  test('ends, past its bound, in how many more there are', () => {
    const capped = capFaults(faults(MAX_FAULTS + 7));
    expect(capped).toEqual([...faults(MAX_FAULTS), { path: 'body', message: 'and 7 more' }]);
  });
});
