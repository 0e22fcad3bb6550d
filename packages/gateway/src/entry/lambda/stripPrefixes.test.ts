import { expect, it } from 'vitest';
import { stripPrefixes } from './stripPrefixes.ts';

const cases: readonly (readonly [path: string, basePath: string, stage: string, stripped: string, prefix: string])[] = [
  ['/requests', '', '$default', '/requests', ''],
  ['/$default/requests', '', '$default', '/$default/requests', ''],
  ['/prod/requests', '', 'prod', '/requests', '/prod'],
  ['/prod', '', 'prod', '/', '/prod'],
  ['/prod/', '', 'prod', '/', '/prod'],
  ['/production/requests', '', 'prod', '/production/requests', ''],
  ['/requests', '', 'prod', '/requests', ''],
  ['/v1/requests', '/v1', '$default', '/requests', '/v1'],
  ['/v1/prod/requests', '/v1', 'prod', '/requests', '/v1/prod'],
  ['/prod/v1/requests', '/v1', 'prod', '/v1/requests', '/prod'],
  ['/requests', '/v1', '$default', '/requests', ''],
  ['/a/b/requests', '/a/b', '', '/requests', '/a/b'],
  ['/prod/prod', '', 'prod', '/prod', '/prod'],
  ['//prod/requests', '', 'prod', '//prod/requests', ''],
];

it.each(cases)('%s with base path "%s" and stage "%s" is %s', (path, basePath, stage, stripped, prefix) => {
  expect(stripPrefixes(path, { basePath, stage })).toEqual({ path: stripped, prefix });
});
