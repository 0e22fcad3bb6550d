import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A running S3 server that verifies signatures, with one empty bucket. */
export interface S3Server extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** The only keys it knows. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Stops listening, ends open connections and removes the stored objects. */
  close(): Promise<void>;
}

interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
  readonly httpServer: { closeAllConnections(): void };
}
type S3rverConstructor = new (options: Readonly<Record<string, unknown>>) => S3rver;

/**
 * Starts an S3 server on 127.0.0.1 that refuses altered and expired presigned URLs. It does not check checksums and
 * ignores `If-None-Match`; any region is good.
 *
 * @param options `bucket` to create; default `objects`
 * @returns the running server
 */
export async function startS3Server(options: { readonly bucket?: string } = {}): Promise<S3Server> {
  const bucket = options.bucket ?? 'objects';
  // The package is CommonJS without type declarations; the cast names the part of it that is used here.
  const S3rverServer = createRequire(import.meta.url)('@20minutes/s3rver') as S3rverConstructor;
  const directory = await mkdtemp(join(tmpdir(), 's3-server-'));
  const server = new S3rverServer({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();

  const close = async () => {
    const closed = server.close();
    server.httpServer.closeAllConnections();
    await closed;
    await rm(directory, { recursive: true, force: true });
  };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    // The pair that the package is built with.
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    close,
    [Symbol.asyncDispose]: close,
  };
}
