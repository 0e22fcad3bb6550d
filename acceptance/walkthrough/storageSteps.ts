import { createHash, randomBytes } from 'node:crypto';
import type { SignedOperationBody, StorageOperation } from '@prism-gateway/protocol';
import { type Client, WalkthroughError } from './client.ts';
import { showAnswer, showCall, showNote, showStep } from './show.ts';

/** The development issuer's route; a gateway in production has none. */
const TOKEN_PATH = '/dev/identity/token';

/**
 * Makes sure of a token before anything is done: without one the walk would end in the middle.
 *
 * @throws WalkthroughError if the gateway has no development issuer
 */
export async function requireDevelopmentIssuer(client: Client): Promise<void> {
  const { status } = await client.fetch('/dev/identity/jwks');
  if (status !== 404) return;
  throw new WalkthroughError(
    `The gateway at ${client.url} has no development issuer: give an access token of its identity provider with --token.`,
  );
}

/** Gets a development token for a user. */
export async function getDevelopmentToken(client: Client): Promise<string> {
  showStep(
    'A user signs in',
    'In development the built-in issuer gives a token; in production your identity provider does.',
  );
  const body = { sub: 'alice' };
  const { body: answer } = await client.call({
    method: 'POST',
    path: TOKEN_PATH,
    body,
    as: 'development only',
    expected: 200,
  });
  return (answer as { access_token: string }).access_token;
}

interface StoredObject {
  readonly projectId: string;
  /** SHA-256 of the content. */
  readonly key: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

async function sign(client: Client, token: string, object: StoredObject, operation: StorageOperation) {
  const { projectId, key } = object;
  const headers = { Authorization: `Bearer ${token}` };
  const body = { projectId, key, operation };
  const call = { method: 'POST', path: '/storage/sign', body, headers, as: 'Bearer token', expected: 200 };
  return (await client.call(call)).body as SignedOperationBody;
}

async function use(signed: SignedOperationBody, content?: Uint8Array<ArrayBuffer>): Promise<Response> {
  const { url, method, headers } = signed;
  showCall({
    method,
    target: url,
    as: 'presigned URL',
    ...(content && { body: `${content.byteLength} encrypted bytes` }),
  });
  return await fetch(url, { method, headers, ...(content && { body: content }) });
}

function expectStatus(response: Response, expected: readonly number[], body?: string): void {
  showAnswer(response.status, body);
  if (!expected.includes(response.status)) {
    throw new WalkthroughError(
      `The presigned URL was answered with ${response.status}; ${expected.join(' or ')} was expected.`,
    );
  }
}

/** Puts an object, and looks at it, reads it back and deletes it, each through a presigned URL of its own. */
export async function storeObject(client: Client, token: string): Promise<void> {
  const content = new Uint8Array(randomBytes(2048));
  const key = `0x${createHash('sha256').update(content).digest('hex')}`;
  const object = { projectId: `0x${randomBytes(16).toString('hex')}`, key, content };

  showStep(
    'The user puts an encrypted object',
    'One presigned URL for one operation; what is stored under a hash must hash to it.',
  );
  expectStatus(await use(await sign(client, token, object, 'put'), content), [200]);

  showStep('The user looks at it with head', 'Its size and type, without its bytes.');
  const head = await use(await sign(client, token, object, 'head'));
  expectStatus(head, [200], `content-length: ${head.headers.get('content-length')}`);

  showStep('The user gets it back', 'The bytes are compared with what was put.');
  const got = await use(await sign(client, token, object, 'get'));
  const bytes = new Uint8Array(await got.arrayBuffer());
  expectStatus(got, [200], `${bytes.byteLength} bytes`);
  if (Buffer.compare(bytes, content) !== 0)
    throw new WalkthroughError('The object that came back is not the one that was put.');
  showNote('the same bytes came back');

  showStep('The user deletes it', 'Afterwards it is gone.');
  expectStatus(await use(await sign(client, token, object, 'delete')), [200, 204]);
  expectStatus(await use(await sign(client, token, object, 'get')), [404]);
}
