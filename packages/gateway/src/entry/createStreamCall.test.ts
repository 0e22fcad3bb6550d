import { expect, test } from 'vitest';
import { streamEndpoint } from './createStreamCall.ts';

test.each([
  [{}, 'eu-central-1', 'https://streams.dynamodb.eu-central-1.amazonaws.com/'],
  [{}, 'cn-north-1', 'https://streams.dynamodb.cn-north-1.amazonaws.com.cn/'],
  // A local engine has tables and streams at one address.
  [{ AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000' }, 'us-east-1', 'http://127.0.0.1:8000/'],
  // An endpoint of AWS for tables knows no streams.
  [
    { AWS_ENDPOINT_URL_DYNAMODB: 'https://vpce-1.dynamodb.us-east-1.vpce.amazonaws.com' },
    'us-east-1',
    'https://streams.dynamodb.us-east-1.amazonaws.com/',
  ],
  [{ AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' }, 'us-east-1', 'http://127.0.0.1:4566/'],
  [
    { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1', AWS_ENDPOINT_URL_DYNAMODB_STREAMS: 'http://127.0.0.1:2' },
    'us-east-1',
    'http://127.0.0.1:2/',
  ],
])('%j in %s: streams are asked at %s', (environment, region, url) => {
  expect(streamEndpoint(environment, region).href).toBe(url);
});
