import { expect, test } from 'vitest';
import { type BucketSettings, findBucketAddress, S3SettingsError } from './bucketAddress.ts';

const settings: BucketSettings = { bucket: 'objects', region: 'eu-central-1', forcePathStyle: false };
const find = (changes: Partial<BucketSettings>) => {
  const { origin, pathPrefix } = findBucketAddress({ ...settings, ...changes });
  return origin + pathPrefix;
};

test.each<[string, Partial<BucketSettings>, string]>([
  ['AWS', {}, 'https://objects.s3.eu-central-1.amazonaws.com/'],
  ['AWS, path style', { forcePathStyle: true }, 'https://s3.eu-central-1.amazonaws.com/objects/'],
  ['AWS in China', { region: 'cn-north-1' }, 'https://objects.s3.cn-north-1.amazonaws.com.cn/'],
  ['dots under TLS', { bucket: 'a.b.c' }, 'https://s3.eu-central-1.amazonaws.com/a.b.c/'],
  ['an endpoint', { endpoint: 'https://store.example:8443' }, 'https://objects.store.example:8443/'],
  ['an endpoint with a path', { endpoint: 'http://store.example/s3/' }, 'http://objects.store.example/s3/'],
  ['an endpoint without TLS', { endpoint: 'http://store.test', bucket: 'two.dots' }, 'http://two.dots.store.test/'],
  ['an IP address', { endpoint: 'http://127.0.0.1:9000', bucket: 'two.dots' }, 'http://127.0.0.1:9000/two.dots/'],
  ['an IPv6 address', { endpoint: 'http://[::1]:9000/s3' }, 'http://[::1]:9000/s3/objects/'],
])('%s', (_, changes, address) => {
  expect(find(changes)).toBe(address);
});

test.each<[string, Partial<BucketSettings>]>([
  ['an ARN', { bucket: 'arn:aws:s3:us-west-2:123456789012:accesspoint/mine' }],
  ['a directory bucket', { bucket: 'objects--use1-az4--x-s3' }],
  ['an empty bucket', { bucket: '' }],
  ['a path for a bucket', { bucket: 'objects/../other' }],
  ['a region that is none', { region: 'eu-central-1.evil.example/' }],
  ['an empty region', { region: '' }],
  ['an endpoint that is no URL', { endpoint: 'store.example' }],
  ['an endpoint of another scheme', { endpoint: 'ftp://store.example' }],
  ['an endpoint with a query', { endpoint: 'https://store.example/?a=b' }],
  ['FIPS with an endpoint', { endpoint: 'https://store.example', useFips: true }],
  ['dual-stack with an endpoint', { endpoint: 'https://store.example', useDualStack: true }],
  ['FIPS in China', { region: 'cn-north-1', useFips: true }],
])('refuses %s', (_, changes) => {
  expect(() => find(changes)).toThrow(S3SettingsError);
});

test('never repeats the endpoint, which may hold a password', () => {
  expect(() => find({ endpoint: 'https://user:hunter2@store.example' })).toThrow(/^(?!.*hunter2)/);
});
