import { appendFileSync, chmodSync, chownSync, cpSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedServer, startEmbedded } from '../../src/drivers/postgres/startEmbedded.ts';

/** A primary with a standby that has each commit before it is acknowledged. */
export interface ServerPair {
  readonly primary: EmbeddedServer;
  readonly standby: EmbeddedServer;
  /** A connection string that names both. */
  readonly url: string;
  /** Makes the standby take writes, as an operator or a manager of clusters does. */
  promote(): Promise<void>;
  /** Starts a server again that was stopped. */
  restart(server: EmbeddedServer): Promise<EmbeddedServer>;
}

/** Gives all of a folder to its owner: root copies as root. */
export function giveTo(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  chownSync(path, uid, gid);
  for (const entry of readdirSync(path, { recursive: true })) chownSync(join(path, String(entry)), uid, gid);
}

/** Starts both, each on a port and in a folder of its own. */
export async function startPair(): Promise<ServerPair> {
  const [folder, copy] = [
    await mkdtemp(join(tmpdir(), 'prism-primary-')),
    await mkdtemp(join(tmpdir(), 'prism-standby-')),
  ];
  const first = await startEmbedded({ folder });
  await first.stop();
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  const data = join(copy, 'data');
  // The copy has made it readable.
  chmodSync(data, 0o700);
  writeFileSync(join(data, 'standby.signal'), '');
  const { username, password } = new URL(first.url);
  const source = `host=127.0.0.1 port=${first.port} user=${username} password=${password} application_name=standby`;
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  if (process.getuid?.() === 0) giveTo(copy, statSync(join(folder, 'data')));
  const primary = await startEmbedded({ folder, port: first.port, flags: ['synchronous_standby_names=standby'] });
  const standby = await startEmbedded({ folder: copy });
  const { username: user, password: secret, pathname } = new URL(primary.url);
  return {
    primary,
    standby,
    url: `postgres://${user}:${secret}@127.0.0.1:${primary.port},127.0.0.1:${standby.port}${pathname}`,
    async promote() {
      const client = new pg.Client({ connectionString: standby.url });
      await client.connect();
      await client.query('SELECT pg_promote()');
      await client.end();
    },
    restart: ({ folder: where, port }) => startEmbedded({ folder: where, port }),
  };
}
