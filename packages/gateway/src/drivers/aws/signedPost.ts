import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A call of a service that speaks JSON. */
export interface SignedPost {
  readonly service: string;
  readonly region: string;
  readonly endpoint: URL;
  readonly contentType: 'application/x-amz-json-1.0' | 'application/x-amz-json-1.1';
  /** The JSON protocol's name of the operation. */
  readonly target: string;
  readonly body: string;
  /** For the whole exchange, in milliseconds. */
  readonly timeoutMs: number;
}

async function sign(post: SignedPost, environment: Environment): Promise<Readonly<Record<string, string>>> {
  const { service, region, endpoint, contentType, target, body } = post;
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN: sessionToken } = environment;
  const signer = new SignatureV4({
    service,
    region,
    sha256: Sha256,
    credentials: {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(sessionToken && { sessionToken }),
    },
  });
  const request = new HttpRequest({
    method: 'POST',
    protocol: endpoint.protocol,
    hostname: endpoint.hostname,
    path: endpoint.pathname,
    headers: { host: endpoint.host, 'content-type': contentType, 'x-amz-target': target },
    body,
  });
  return (await signer.sign(request)).headers;
}

/**
 * Makes one signed call by Node's own client, with the credentials that Lambda puts into the environment: at a cold start `fetch` would
 * take longer to load than the call takes.
 *
 * @throws Error when there is no whole answer in time
 */
export async function signedPost(
  post: SignedPost,
  environment: Environment,
): Promise<{ readonly status: number; readonly text: string }> {
  const { endpoint, body, timeoutMs } = post;
  const signed = await sign(post, environment);
  // Only what is needed, and late: importing `node:http` loads all of Node's `fetch` too.
  const { request } = endpoint.protocol === 'http:' ? await import('node:http') : await import('node:https');
  return await new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { ...signed, 'content-length': Buffer.byteLength(body) };
    const sent = request(endpoint, { method: 'POST', headers, signal }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      // An answer has a status.
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
