import { join } from 'node:path';
import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import { type Environment, parseEnvironment } from '@prism-gateway/node/settings';
import { gatewaySettings, type Store } from '../settings.ts';
import { BackupError, type BackupFolder, openBackupFolder } from './backupFolder.ts';
import { type BackupSettings, createBackup } from './createBackup.ts';
import { describeBackupFailure } from './describeBackupFailure.ts';

/** Where a command finds its settings, and where it prints. */
export interface CommandContext {
  readonly environment: Environment;
  readonly print: (text: string) => void;
  /** Prints an error. */
  readonly complain: (text: string) => void;
}

const HELP = `Backs up the gateway's database, objects and secrets, while it runs.

  npx prism backup FOLDER    a later backup adds only what is new of the objects

  --keep N   remove all but the N newest backups in FOLDER, once the new one is complete; default: all are kept
  --json     one line of JSON on what was backed up
  --help     this text

It reads DATA_DIR, STAGE, STORE and STORAGE_BUCKET as the gateway does: run it with the gateway's own environment. What was
acknowledged before it began is in the backup. \`npx prism restore\` brings it back.`;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function readOrder(args: readonly string[]) {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: { keep: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  const [place, more] = positionals;
  if (more !== undefined) throw new CommandLineError(`It takes one folder, not also "${more}". Try --help.`);
  if (values.keep !== undefined && !/^[1-9]\d{0,5}$/.test(values.keep))
    throw new CommandLineError('--keep: expected a whole number of at least 1. Try --help.');
  const keep = values.keep === undefined ? undefined : Number(values.keep);
  return { place, keep, json: values.json === true, help: values.help === true };
}

interface Order {
  readonly place: string;
  /** How many backups are left; undefined: all. */
  readonly keep: number | undefined;
  readonly json: boolean;
}

/** Removes what is too old: the new backup counts, whether that can be done or not. */
async function prune({ complain }: CommandContext, folder: BackupFolder, name: string, { keep }: Order) {
  if (keep === undefined) return 0;
  try {
    return await folder.prune(name, keep);
  } catch (error) {
    complain(`The backup is complete, but older ones could not be removed. ${describeBackupFailure(error)}`);
    return undefined;
  }
}

/** @returns the exit status */
async function backUp(context: CommandContext, order: Order): Promise<number> {
  const { environment, print } = context;
  const settings = readBackupSettings(environment);
  const startedMs = performance.now();
  const folder = openBackupFolder(order.place);
  try {
    const { manifest, newObjectBytes } = await createBackup({ settings, folder, now: Date.now });
    const removed = await prune(context, folder, manifest.name, order);
    const seconds = (performance.now() - startedMs) / 1000;
    if (order.json) print(JSON.stringify({ place: folder.root, ...manifest, newObjectBytes, removed, seconds }));
    else {
      const { name, database, objects } = manifest;
      const kept =
        objects === null
          ? 'objects are in their bucket'
          : `${objects.count} objects, ${megabytes(newObjectBytes)} of them new`;
      print(
        `Backed up to ${folder.root} as ${name} in ${seconds.toFixed(1)} s: database ${megabytes(database.bytes)}, ${kept}.`,
      );
      if (removed !== undefined && removed > 0) print(`Older backups removed: ${removed}.`);
    }
    return removed === undefined ? 1 : 0;
  } finally {
    folder.close();
  }
}

/**
 * Runs `npx prism backup` with these arguments.
 *
 * @param args - what stands behind the command
 * @returns the exit status: 0, 1 if no backup was made or older ones were not removed, 2 for arguments that are none
 */
export async function runBackup(context: CommandContext, args: readonly string[]): Promise<number> {
  try {
    const { place, keep, json, help } = readOrder(args);
    if (help) {
      context.print(HELP);
      return 0;
    }
    if (place === undefined) {
      context.complain(writeFailure(args, 'Give one folder: npx prism backup FOLDER. Try --help.'));
      return USAGE_STATUS;
    }
    return await backUp(context, { place, keep, json });
  } catch (error) {
    if (error instanceof CommandLineError) {
      context.complain(writeFailure(args, error.message));
      return USAGE_STATUS;
    }
    context.complain(writeFailure(args, `No backup was made. ${describeBackupFailure(error)}`));
    return 1;
  }
}

const { STAGE, STORE, DATA_DIR, STORAGE_BUCKET } = gatewaySettings;
const settings = { STAGE, STORE, DATA_DIR, STORAGE_BUCKET };

/** How a queue is backed up that is not in a file; undefined: by this program. */
const BACKED_UP_ELSEWHERE: Readonly<Record<Store, string | undefined>> = {
  sqlite: undefined,
  postgres:
    'STORE=postgres keeps the queue in PostgreSQL: back it up by pg_dump, or by its log. See docs/postgres.md, "Backup".',
  dynamodb:
    'STORE=dynamodb keeps the queue in DynamoDB, which has point-in-time recovery of its own: see docs/operations-aws.md.',
};

/**
 * Reads from the gateway's own environment where its data are.
 *
 * @throws SettingsError; BackupError `BACKUP_REFUSED` if the queue is not in a file
 */
function readBackupSettings(environment: Environment): BackupSettings {
  const given = parseEnvironment({ settings }, environment);
  const elsewhere = BACKED_UP_ELSEWHERE[given.STORE];
  if (elsewhere !== undefined) throw new BackupError('BACKUP_REFUSED', elsewhere);
  return {
    dataDir: given.DATA_DIR,
    stage: given.STAGE,
    databaseFile: join(given.DATA_DIR, `gateway-${given.STAGE}.db`),
    keepsObjects: given.STORAGE_BUCKET === undefined,
  };
}
