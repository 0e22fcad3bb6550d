import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type LoopbackServer, listenOnLoopback } from '@prism-gateway/testing';
import { afterEach, expect, it } from 'vitest';
import { createSecretReader } from './createSecretReader.ts';

interface SeenCall {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}
type Reply = readonly [status: number, body: string];

const secretArn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:prism/admin-AbCdEf';
const parameterArn = 'arn:aws:ssm:us-west-2:123456789012:parameter/prism/cursor';

let server: LoopbackServer | undefined;
afterEach(() => server?.close());

/** A keeper of secrets that answers as told, one reply a call; the last one stays. */
async function startKeeper(replies: readonly Reply[]): Promise<{ env: Record<string, string>; calls: SeenCall[] }> {
  const calls: SeenCall[] = [];
  const http = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = await incoming.toArray();
    calls.push({ headers: incoming.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as unknown });
    const [status, body] = replies[Math.min(calls.length, replies.length) - 1] ?? [500, ''];
    outgoing.writeHead(status).end(body);
  });
  server = await listenOnLoopback(http);
  const keys = {
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'not-a-secret',
    AWS_SESSION_TOKEN: 'a-session',
  };
  return { env: { ...keys, AWS_ENDPOINT_URL: server.url }, calls };
}

it('asks Secrets Manager for a secret, signed for its region', async () => {
  const { env, calls } = await startKeeper([[200, JSON.stringify({ Name: 'prism/admin', SecretString: 'the key' })]]);
  expect(await createSecretReader(env)(secretArn)).toBe('the key');
  expect(calls[0]?.body).toEqual({ SecretId: secretArn });
  expect(calls[0]?.headers).toMatchObject({
    'x-amz-target': 'secretsmanager.GetSecretValue',
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-security-token': 'a-session',
    authorization: expect.stringMatching(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/secretsmanager\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/,
    ),
  });
});

it('asks Systems Manager for a parameter, decrypted', async () => {
  const { env, calls } = await startKeeper([[200, JSON.stringify({ Parameter: { Value: 'the cursor secret' } })]]);
  expect(await createSecretReader(env)(parameterArn)).toBe('the cursor secret');
  expect(calls[0]?.body).toEqual({ Name: parameterArn, WithDecryption: true });
  expect(calls[0]?.headers).toMatchObject({
    'x-amz-target': 'AmazonSSM.GetParameter',
    authorization: expect.stringContaining('/us-west-2/ssm/aws4_request'),
  });
});

it('tries again after an outage and after throttling', async () => {
  const { env, calls } = await startKeeper([
    [503, 'busy'],
    [400, JSON.stringify({ __type: 'ThrottlingException' })],
    [200, JSON.stringify({ SecretString: 'at last' })],
  ]);
  expect(await createSecretReader(env)(secretArn)).toBe('at last');
  expect(calls).toHaveLength(3);
});

it('says at once what cannot be read, and why, and tells nothing secret', async () => {
  const refusal = JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: 'AKIDEXAMPLE may not' });
  const { env, calls } = await startKeeper([[400, refusal]]);
  const reading = createSecretReader(env)(secretArn);
  await expect(reading).rejects.toMatchObject({
    code: 'SECRET_UNREADABLE',
    message: `${secretArn} could not be read: 400 AccessDeniedException.`,
  });
  expect(calls).toHaveLength(1);
});

it('gives up when nobody answers', async () => {
  const { env } = await startKeeper([]);
  await server?.close();
  await expect(createSecretReader(env)(secretArn)).rejects.toMatchObject({
    message: `${secretArn} could not be read: no answer.`,
  });
});

it.each([
  'prism/admin',
  'arn:aws:s3:::bucket',
  'arn:aws:ssm:us-east-1:123456789012:secret:a',
  'arn:aws:secretsmanager:us-east-1:123456789012:parameter/a',
])('refuses %s', async (arn) => {
  await expect(createSecretReader({})(arn)).rejects.toMatchObject({ code: 'SECRET_UNREADABLE' });
});
