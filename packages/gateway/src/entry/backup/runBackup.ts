import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/runtime/command-line';
import type { Environment } from '@prism-gateway/runtime/settings';
import { readBackupSettings } from './backupSettings.ts';
import { createBackup } from './createBackup.ts';
import { describeBackupFailure } from './describeBackupFailure.ts';
import { openTarget } from './openTarget.ts';

/** Where a command finds its settings, and whom it tells. */
export interface CommandContext {
  readonly environment: Environment;
  readonly print: (text: string) => void;
  /** What goes wrong. */
  readonly complain: (text: string) => void;
}

const HELP = `Backs up the gateway's database, objects and secrets, while it runs.

  npm run backup -- FOLDER                  into a folder; a later backup adds only what is new of the objects
  npm run backup -- --to s3://BUCKET/PREFIX  into a bucket; region, keys and endpoint as the AWS SDK reads them

  --json     one line of JSON on what was backed up
  --help     this text

It reads DATA_DIR, STAGE, STORE and STORAGE_BUCKET as the gateway does: run it with the gateway's own environment. What was
acknowledged before it began is in the backup. \`npm run restore\` brings it back.`;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function readOrder(args: readonly string[]) {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: { to: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  const places = [...positionals, ...(values.to === undefined ? [] : [values.to])];
  const [, more] = places;
  if (more !== undefined) throw new CommandLineError(`It takes one place, not also "${more}". Try --help.`);
  return { place: places[0], json: values.json === true, help: values.help === true };
}

/** What is asked for. */
interface Order {
  readonly place: string;
  readonly json: boolean;
}

async function backUp({ environment, print }: CommandContext, order: Order): Promise<void> {
  const settings = readBackupSettings(environment);
  const startedMs = performance.now();
  const target = await openTarget({ environment, purpose: 'write' }, order.place);
  try {
    const { manifest, newObjectBytes } = await createBackup({ settings, target, now: Date.now });
    const seconds = (performance.now() - startedMs) / 1000;
    if (order.json) print(JSON.stringify({ place: target.place, ...manifest, newObjectBytes, seconds }));
    else {
      const { name, database, objects } = manifest;
      const kept =
        objects === null
          ? 'objects are in their bucket'
          : `${objects.count} objects, ${megabytes(newObjectBytes)} of them new`;
      print(
        `Backed up to ${target.place} as ${name} in ${seconds.toFixed(1)} s: database ${megabytes(database.bytes)}, ${kept}.`,
      );
    }
  } finally {
    await target.close();
  }
}

/**
 * Runs `npm run backup` with these arguments.
 *
 * @param args - what stands behind the command
 * @returns the exit status: 0, 1 where no backup was made, 2 for arguments that are none
 */
export async function runBackup(context: CommandContext, args: readonly string[]): Promise<number> {
  try {
    const { place, json, help } = readOrder(args);
    if (help) {
      context.print(HELP);
      return 0;
    }
    if (place === undefined) {
      context.complain(
        writeFailure(
          args,
          'Give one place: npm run backup -- FOLDER, or npm run backup -- --to s3://BUCKET/PREFIX. Try --help.',
        ),
      );
      return USAGE_STATUS;
    }
    await backUp(context, { place, json });
    return 0;
  } catch (error) {
    if (error instanceof CommandLineError) {
      context.complain(writeFailure(args, error.message));
      return USAGE_STATUS;
    }
    context.complain(writeFailure(args, `No backup was made. ${describeBackupFailure(error)}`));
    return 1;
  }
}
