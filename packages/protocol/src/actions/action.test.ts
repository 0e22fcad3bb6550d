import { expect, test } from 'vitest';
import { ACTIONS, isAction } from './action.ts';

test('there are the eleven actions of the table and the combined creation', () => {
  expect(ACTIONS).toEqual([
    'CREATE_PRISM_FOR',
    'WRITE_DATA_FOR',
    'MODIFY_DATA_FOR',
    'DELETE_DATA_FOR',
    'TRANSFER_PRISM_FOR',
    'ACCEPT_TRANSFER_FOR',
    'DELETE_PRISM_FOR',
    'BATCH_WRITE_DATA_FOR',
    'BATCH_MODIFY_DATA_FOR',
    'BATCH_DELETE_DATA_FOR',
    'BATCH_MULTI_USER_WRITE_DATA',
    'CREATE_PRISM_WITH_DATA_FOR',
  ]);
});

test('nothing else is an action', () => {
  for (const action of ACTIONS) expect(isAction(action)).toBe(true);
  for (const other of [
    'write_data_for',
    'WRITE_DATA',
    '',
    ' WRITE_DATA_FOR',
    'toString',
    '__proto__',
    0,
    null,
    undefined,
    ['WRITE_DATA_FOR'],
  ]) {
    expect(isAction(other)).toBe(false);
  }
});
