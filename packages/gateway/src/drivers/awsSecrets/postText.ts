interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For the whole exchange, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Posts text by Node's own client: at a cold start `fetch` would take longer to load than the call takes.
 *
 * @throws Error when there is no whole answer in time
 */
export async function postText(url: URL, post: Post): Promise<{ readonly status: number; readonly text: string }> {
  // Only what is needed, and late: importing `node:http` loads all of Node's `fetch` too.
  const { request } = url.protocol === 'http:' ? await import('node:http') : await import('node:https');
  return await new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(post.timeoutMs);
    const headers = { ...post.headers, 'content-length': Buffer.byteLength(post.body) };
    const sent = request(url, { method: 'POST', headers, signal }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      // An answer has a status.
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(post.body);
  });
}
