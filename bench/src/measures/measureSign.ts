import { randomBytes } from 'node:crypto';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { BenchContext } from '../benchContext.ts';
import { type Call, replay } from '../load/runLoad.ts';
import { fetchTokens, startGateway } from '../processes/startGateway.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { alternate } from './alternate.ts';
import { createMeter } from './createMeter.ts';

/** Users who ask for presigned URLs. */
const USERS = 50;
const LIFETIME_SECONDS = 60;

/** Bucket, region and made-up credentials for presigning, which needs no network; the gateway and the presigner get the same. */
const STORAGE = {
  STORAGE_BUCKET: 'bench-objects',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'bench-access-key',
  AWS_SECRET_ACCESS_KEY: 'bench-not-a-secret',
} as const;

const hex = (bytes: number) => randomBytes(bytes).toString('hex');

/** Orders a presigned URL for a put, each of another object. */
export function signCall(token: string): Call {
  const body = `{"projectId":"0x${hex(16)}","key":"0x${hex(32)}","operation":"put"}`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return { method: 'POST', path: '/storage/sign', headers, body };
}

/** The official presigner alone, with the same put and signed headers as the gateway's. @returns presigned URLs a second */
async function presign(client: S3Client, count: number): Promise<number> {
  const commands = Array.from({ length: count }, () => {
    const content = randomBytes(32);
    return new PutObjectCommand({
      Bucket: STORAGE.STORAGE_BUCKET,
      Key: `v1/${hex(32)}/${hex(16)}/${content.toString('hex')}`,
      ChecksumSHA256: content.toString('base64'),
      IfNoneMatch: '*',
    });
  });
  // The presigner would move them into the query, where S3 does not read them.
  const unhoistableHeaders = new Set(['x-amz-checksum-sha256', 'if-none-match']);
  const startedAt = performance.now();
  for (const command of commands) {
    await getSignedUrl(client, command, { expiresIn: LIFETIME_SECONDS, unhoistableHeaders });
  }
  return (count / (performance.now() - startedAt)) * 1000;
}

/** Measures `POST /storage/sign` against the official presigner alone. */
export async function measureSign(context: BenchContext): Promise<ResultRow[]> {
  const { options, scale } = context;
  const gateway = await startGateway(context, { settings: STORAGE });
  const meter = createMeter('gateway', gateway);
  const tokens = await fetchTokens(gateway.url, USERS);
  const credentials = { accessKeyId: STORAGE.AWS_ACCESS_KEY_ID, secretAccessKey: STORAGE.AWS_SECRET_ACCESS_KEY };
  // Else the presigner adds a CRC32 of the empty body.
  const requestChecksumCalculation = 'WHEN_REQUIRED';
  const client = new S3Client({ region: STORAGE.AWS_REGION, credentials, requestChecksumCalculation });
  const figures = await alternate(options.runs, {
    baseline: () => presign(client, scale.presigns),
    async measure() {
      // `i % USERS` is an index of the tokens.
      const calls = Array.from({ length: scale.signs }, (_, i) => signCall(tokens[i % USERS]!));
      const load = { connections: options.connections, rounds: calls.length, steps: [replay(calls)] };
      return (await meter.run(load)).perSecond;
    },
  });
  return [
    {
      title: 'POST /storage/sign, S3',
      unit: 'URLs/s',
      values: figures.measure,
      baseline: { title: 'official presigner alone', values: figures.baseline },
      target: { of: 'ratio', is: 'at least', bound: 10 },
      notes: [meter.describe()],
    },
  ];
}
