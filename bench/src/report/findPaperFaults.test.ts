import { expect, it } from 'vitest';
import { findPaperFaults } from './findPaperFaults.ts';

const printed = [
  ['raised', 'finished', 'p99'],
  ['as deployed', '72', '2.93 s'],
  ['INDEX_SHARDS 24', '10,011', '0.03 s'],
];
const paper = (finished: string) => `Words.

| raised | finished |
| --- | ---: |
| \`INDEX_SHARDS\` 24 | ${finished} |

In the end 24 shards
accept 10,011.

| other | table |
| --- | --- |
`;

it('finds nothing where figures and sentences are those that were printed, in whatever form and part', () => {
  expect(findPaperFaults(paper('10,011'), { tables: [printed], sentences: ['24 shards accept 10,011.'] })).toEqual([]);
});

it('names each figure, row, table and sentence that was printed otherwise', () => {
  expect(findPaperFaults(paper('10,010'), { tables: [printed] })).toEqual([
    'raised INDEX_SHARDS 24, "finished": 10,010, and 10,011 was printed',
  ]);
  expect(findPaperFaults(paper('10,011'), { tables: [printed.slice(0, 2)] })).toEqual([
    'raised INDEX_SHARDS 24 was not printed',
  ]);
  expect(findPaperFaults(paper('10,011'), { tables: [[['none'], ['1']]], sentences: ['25 shards'] })).toEqual([
    'there is no table of "none"',
    '"25 shards" is not said',
  ]);
  const renamed = printed.map(([name = '', ...cells], row) => [name, row === 0 ? 'done' : (cells[0] ?? '')]);
  expect(findPaperFaults(paper('10,011'), { tables: [renamed] })).toEqual([
    'raised INDEX_SHARDS 24, "finished": 10,011, and undefined was printed',
  ]);
});
