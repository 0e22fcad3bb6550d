import { describe, expect, test } from 'vitest';
import { parseListRequests } from './list.ts';

const signer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const parse = (query: string) => parseListRequests(new URLSearchParams(query));
const faultsOf = (query: string) => {
  const parsed = parse(query);
  return 'faults' in parsed ? parsed.faults : [];
};
const defaults = { limit: 20, order: 'asc' };

describe('takes', () => {
  test.each([
    [`signer=${signer}`, { signer, ...defaults }],
    [`signer=${signer.toLowerCase()}`, { signer: signer.toLowerCase(), ...defaults }],
    ['status=pending', { status: 'pending', ...defaults }],
    ['chainName=eip155%3A31337', { chainName: 'eip155:31337', ...defaults }],
    ['status=failed&limit=1', { status: 'failed', limit: 1, order: 'asc' }],
    ['status=failed&limit=100', { status: 'failed', limit: 100, order: 'asc' }],
    ['status=failed&order=desc', { status: 'failed', limit: 20, order: 'desc' }],
    ['status=failed&lastKey=aB-_9', { status: 'failed', lastKey: 'aB-_9', ...defaults }],
    [
      `signer=${signer}&status=success&chainName=a&limit=7&order=asc&lastKey=k`,
      { signer, status: 'success', chainName: 'a', limit: 7, order: 'asc', lastKey: 'k' },
    ],
  ])('%s', (query, value) => {
    expect(parse(query)).toEqual({ value });
  });

  test('unknown parameters, which it ignores, repeated or empty', () => {
    expect(parse('status=pending&page=2&page=3&x=&__proto__=1')).toEqual({ value: { status: 'pending', ...defaults } });
  });
});

describe('needs at least one filter:', () => {
  test.each([[''], ['limit=20'], ['order=desc&lastKey=a'], ['Signer=x'], ['SIGNER=x']])('%j', (query) => {
    expect(faultsOf(query)).toEqual([{ path: 'query', message: 'expected at least one of signer, status, chainName' }]);
  });
});

describe('refuses', () => {
  test.each<readonly [query: string, path: string]>([
    ['signer=0x1', 'signer'],
    ['signer=relayer.eth', 'signer'],
    ['status=done', 'status'],
    ['status=Pending', 'status'],
    ['status=pending,failed', 'status'],
    ['chainName=a%20b', 'chainName'],
    [`chainName=${'x'.repeat(65)}`, 'chainName'],
    ['status=pending&lastKey=a%2Bb', 'lastKey'],
    ['status=pending&lastKey=a%3D', 'lastKey'],
    [`status=pending&lastKey=${'a'.repeat(1025)}`, 'lastKey'],
    ...['ASC', 'newest', '1'].map((order) => [`status=pending&order=${order}`, 'order'] as const),
    ...['0', '101', '1000', '-1', '%2B1', '1.0', '01', '1e1', 'ten', '%2020', '0x10', 'NaN', '９'].map(
      (limit) => [`status=pending&limit=${limit}`, 'limit'] as const,
    ),
  ])('%s', (query, path) => {
    expect(faultsOf(query).map((fault) => fault.path)).toEqual([path]);
  });

  test.each([['signer'], ['status'], ['chainName'], ['limit'], ['order'], ['lastKey']])('an empty %s', (name) => {
    const query = new URLSearchParams({ status: 'pending' });
    query.set(name, '');
    expect(faultsOf(query.toString())).toEqual([{ path: name, message: 'expected a value, or no such parameter' }]);
  });

  test.each([['signer'], ['status'], ['chainName'], ['limit'], ['order'], ['lastKey']])('a repeated %s', (name) => {
    const query = new URLSearchParams({ status: 'pending' });
    query.delete(name);
    query.append(name, 'a');
    query.append(name, 'a');
    expect(faultsOf(query.toString())[0]).toEqual({ path: name, message: 'expected once' });
  });

  test('and names all faults at once', () => {
    expect(
      faultsOf('limit=0&order=&lastKey=!')
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['lastKey', 'limit', 'order', 'query']);
  });
});
