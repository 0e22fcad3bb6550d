import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type Child, type ChildOrder, spawnChild } from './spawnChild.ts';

const ENTRY = fileURLToPath(new URL('../../../packages/gateway/src/entry/server.ts', import.meta.url));

/** A gateway at work. */
export interface DemoGateway extends Child {
  /** Like `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly adminKey: string;
}

/**
 * Starts the gateway in a process of its own, on a free port, with an administrator's key made for it.
 *
 * @param order.dataDir - where its store goes
 * @throws DemoError `PROCESS_ENDED`, `PROCESS_SILENT`
 */
export async function startGateway(
  order: { readonly dataDir: string } & Pick<ChildOrder, 'logPath' | 'onUnexpectedEnd' | 'signal'>,
): Promise<DemoGateway> {
  const { dataDir, ...rest } = order;
  const adminKey = randomBytes(24).toString('hex');
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDir,
    ADMIN_API_KEY: adminKey,
    // All users and the demo itself come from one address here.
    RATE_LIMIT_WRITES: '0',
    RATE_LIMIT_READS: '0',
    RATE_LIMIT_WRITE_BYTES: '0',
    RATE_LIMIT_CLAIMS: '0',
    RATE_LIMIT_REPORTS: '0',
    RATE_LIMIT_AUTH_FAILURES: '0',
  };
  const readyPattern = /"address":"([^"]+)".*"msg":"listening"/;
  const child = await spawnChild({ ...rest, name: 'The gateway', entry: ENTRY, env, readyPattern });
  return { ...child, url: child.ready, adminKey };
}
