import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { listenOnLoopback } from './listenOnLoopback.ts';
import { type S3Server, startS3Server } from './startS3Server.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Bytes of the object under a key, or undefined if there is none. */
type Content = Uint8Array | undefined;

const hopHeaders = ['connection', 'keep-alive', 'transfer-encoding'];

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = await incoming.toArray();
  return Buffer.concat(chunks);
}

/** Hands a call on as it stands; the signature covers the host that the caller named. */
async function pass(upstream: URL, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  const { hostname, port } = upstream;
  const headers = { ...incoming.headers, 'content-length': String(body.byteLength) };
  for (const name of hopHeaders) delete (headers as IncomingHttpHeaders)[name];
  return await new Promise((resolve, reject) => {
    // A connection of its own: the server may be closing one that has been idle.
    const options = { hostname, port, method: incoming.method, path: incoming.url, headers, agent: false };
    const sent = request(options, (answer) => {
      // An answer has a status.
      const { statusCode: status = 0, headers } = answer;
      // An answer that breaks off must not keep others of its object waiting.
      readBody(answer).then((content) => resolve({ status, headers, body: content }), reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function refusal(status: number, code: string): Answer {
  const body = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`);
  return { status, headers: { 'content-type': 'application/xml' }, body };
}

/** Whether a call carries a signature, good or bad; the server behind lets others read. */
function isSigned({ url = '', headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || new URL(url, 'http://s3').searchParams.has('X-Amz-Algorithm');
}

/** The refusal of S3 for a put whose signature is good. */
function findRefusal({ headers }: IncomingMessage, body: Buffer, before: Content): Answer | undefined {
  const asked = headers['x-amz-checksum-sha256'];
  if (asked !== undefined && asked !== createHash('sha256').update(body).digest('base64')) {
    return refusal(400, 'BadDigest');
  }
  return headers['if-none-match'] === '*' && before !== undefined ? refusal(412, 'PreconditionFailed') : undefined;
}

/** Reads and puts back objects by the server's own keys. */
async function createKeeper({ endpoint, bucket, credentials }: S3Server) {
  // Loaded by those tests alone that store objects.
  const { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
  return {
    async read(Key: string): Promise<Content> {
      const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key })).catch(() => undefined);
      return await answer?.Body?.transformToByteArray();
    },
    async restore(Key: string, Body: Content): Promise<void> {
      if (Body === undefined) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
      else await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
    },
  };
}

/**
 * Starts an S3 server on 127.0.0.1 that also holds to `x-amz-checksum-sha256` and to `If-None-Match: *`, as S3 does, and lets
 * nobody in without a signature: what the server behind it took and S3 would not have is taken back before anyone can see it.
 */
export async function startStrictS3Server(): Promise<S3Server> {
  const server = await startS3Server();
  const upstream = new URL(server.endpoint);
  const keeper = await createKeeper(server);
  const turns = new Map<string, Promise<unknown>>();

  async function answer(incoming: IncomingMessage, key: string, body: Buffer): Promise<Answer> {
    if (!isSigned(incoming)) return refusal(403, 'AccessDenied');
    if (incoming.method !== 'PUT') return await pass(upstream, incoming, body);
    const before = await keeper.read(key);
    const passed = await pass(upstream, incoming, body);
    const refused = passed.status === 200 ? findRefusal(incoming, body, before) : undefined;
    if (refused !== undefined) await keeper.restore(key, before);
    return refused ?? passed;
  }

  /** One call at a time for each object. */
  async function inTurn<T>(key: string, act: () => Promise<T>): Promise<T> {
    const turn = (turns.get(key) ?? Promise.resolve()).then(act);
    turns.set(
      key,
      turn.catch(() => undefined),
    );
    return await turn;
  }

  const front = await listenOnLoopback(
    createServer(async (incoming, outgoing) => {
      const body = await readBody(incoming);
      const { pathname } = new URL(incoming.url ?? '/', server.endpoint);
      const key = decodeURIComponent(pathname.slice(server.bucket.length + 2));
      const answered = inTurn(key, () => answer(incoming, key, body)).catch(() => refusal(500, 'InternalError'));
      const { status, headers, body: content } = await answered;
      for (const name of hopHeaders) delete (headers as IncomingHttpHeaders)[name];
      outgoing.writeHead(status, headers).end(content);
    }),
  );
  const close = async () => {
    await front.close();
    await server.close();
  };
  return { ...server, endpoint: front.url, close, [Symbol.asyncDispose]: close };
}
