import { once } from 'node:events';
import { createServer } from 'node:http';
import { createFrontendHandler } from './createFrontendHandler.ts';
import { type FrontendStore, openFrontendStore } from './openFrontendStore.ts';

/** A running reference frontend. */
export interface ReferenceFrontend {
  /** Like `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly store: FrontendStore;
  close(): Promise<void>;
}

/**
 * Starts the reference frontend on 127.0.0.1.
 *
 * @param options - SQLite file, secret, lease of a claim, port (default: a free one), clock
 */
export async function startReferenceFrontend(options: {
  readonly file: string;
  readonly secret: string;
  readonly leaseMs: () => number;
  readonly port?: number;
  readonly now?: () => number;
}): Promise<ReferenceFrontend> {
  const { now = Date.now } = options;
  const store = openFrontendStore({ file: options.file, now, leaseMs: options.leaseMs });
  const server = createServer(createFrontendHandler({ store, secret: options.secret }));
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    store,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      store.close();
    },
  };
}
