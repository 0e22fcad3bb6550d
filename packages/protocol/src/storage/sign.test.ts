import { describe, expect, test } from 'vitest';
import { parseWith } from '../errors/fault.ts';
import { STORAGE_OPERATIONS, signStorageSchema } from './sign.ts';

const body = { projectId: `0x${'A1'.repeat(16)}`, key: `0x${'b2'.repeat(32)}`, operation: 'put' };
const pathsOf = (input: unknown) => {
  const parsed = parseWith(signStorageSchema, input);
  return 'faults' in parsed ? parsed.faults.map(({ path }) => path) : [];
};

test.each(STORAGE_OPERATIONS)('takes %s', (operation) => {
  expect(parseWith(signStorageSchema, { ...body, operation })).toEqual({ value: { ...body, operation } });
});

describe('refuses', () => {
  test.each([
    [{}, ['projectId', 'key', 'operation']],
    [{ ...body, projectId: body.key }, ['projectId']],
    [{ ...body, projectId: 'a1'.repeat(16) }, ['projectId']],
    [{ ...body, projectId: `0x${'g1'.repeat(16)}` }, ['projectId']],
    [{ ...body, projectId: `${body.projectId}/..` }, ['projectId']],
    [{ ...body, key: body.projectId }, ['key']],
    [{ ...body, key: `${body.key}\n` }, ['key']],
    [{ ...body, key: '../other' }, ['key']],
    [{ ...body, operation: 'PUT' }, ['operation']],
    [{ ...body, operation: 'list' }, ['operation']],
    [{ ...body, size: -1 }, ['size']],
    [{ ...body, size: 1.5 }, ['size']],
    [{ ...body, size: '1' }, ['size']],
    [{ ...body, size: 2 ** 60 }, ['size']],
    [{ ...body, bucket: 'mine' }, ['bucket']],
    [{ ...body, path: 'v1/other' }, ['path']],
    [JSON.parse(`{"__proto__":{},${JSON.stringify(body).slice(1)}`), ['__proto__']],
    [null, ['body']],
  ])('%j', (input, paths) => {
    expect(pathsOf(input)).toEqual(paths);
  });
});
