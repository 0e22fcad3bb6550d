import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, type ProgramOptions, startProgram } from './startProgram.ts';

/** A gateway process. */
export interface RunningGateway extends Program {
  readonly adminKey: string;
  readonly dataDir: string;
}

export interface GatewayOptions extends Omit<ProgramOptions, 'folder'> {
  /** Data directory to share or go on with; else a new one, removed when the gateway ends. */
  readonly dataDir?: string;
}

/** The administrator's key of gateways in tests. */
const ADMIN_KEY = 'change-me-admin-key';

const NO_LIMITS = Object.fromEntries(
  ['WRITES', 'WRITE_BYTES', 'READS', 'READ_BYTES', 'SIGN', 'CLAIMS', 'REPORTS', 'AUTH_FAILURES', 'ADMIN_FAILURES'].map(
    (name) => [`RATE_LIMIT_${name}`, '0'],
  ),
);

/**
 * Starts the real gateway in a process of its own and waits until it listens: on any port of 127.0.0.1, and without rate limits unless
 * its settings say otherwise. `TEST_STORE=postgres` has each of stage dev keep its queue in an embedded
 * PostgreSQL, that of a new folder on a copy of `TEST_POSTGRES`.
 *
 * @throws ProgramEndedError `PROGRAM_ENDED` with what it printed, if it ends instead
 */
export async function startGateway({ dataDir: given, ...options }: GatewayOptions = {}): Promise<RunningGateway> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'prism-gateway-')));
  const { TEST_STORE: STORE, TEST_POSTGRES: made } = process.env;
  const copy = join(dataDir, 'postgres');
  // With its owner, who is another if this process is root.
  if (STORE !== undefined && made !== undefined && !existsSync(copy)) spawnSync('cp', ['-a', made, copy]);
  const store = STORE === undefined || options.env?.STAGE === 'prod' ? {} : { STORE };
  const env = { DATA_DIR: dataDir, ADMIN_API_KEY: ADMIN_KEY, ...NO_LIMITS, ...store, ...options.env } as const;
  const folder = given === undefined ? dataDir : undefined;
  const program = await startProgram('gateway', { ...options, env, folder });
  const removeData = () => (folder === undefined ? undefined : rm(folder, { recursive: true, force: true }));
  const { stop, kill } = program;
  const stopAndRemove = () => stop().finally(removeData);
  // Its address changes at a restart: not a copy of it.
  return Object.assign(program, {
    // Of two, the newer one stands first.
    adminKey: env.ADMIN_API_KEY.split(',')[0] ?? '',
    dataDir,
    stop: stopAndRemove,
    kill: (signal?: NodeJS.Signals) => kill(signal).finally(removeData),
    [Symbol.asyncDispose]: async () => void (await stopAndRemove()),
  });
}
