import { expect, test } from 'vitest';
import { explorerLink } from '../page/params.js';

const explorers = { 'eip155:1': 'https://explorer.example/tx/{hash}' };

test('a transaction is linked by its chain, and no name that a stranger gives a chain breaks the page', () => {
  expect(explorerLink(explorers, 'eip155:1', '0xab')).toBe('https://explorer.example/tx/0xab');
  for (const name of ['eip155:2', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])
    expect([name, explorerLink(explorers, name, '0xab')]).toEqual([name, undefined]);
});
