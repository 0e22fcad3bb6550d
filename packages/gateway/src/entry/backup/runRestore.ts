import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/runtime/command-line';
import type { BackupTarget } from './backupTarget.ts';
import { describeBackupFailure } from './describeBackupFailure.ts';
import { openTarget } from './openTarget.ts';
import { restoreBackup } from './restoreBackup.ts';
import type { CommandContext } from './runBackup.ts';

const HELP = `Brings a backup of a gateway back, into a new folder.

  DATA_DIR=NEW npm run restore -- FOLDER                 the newest backup there
  DATA_DIR=NEW npm run restore -- --from s3://BUCKET/PREFIX
  npm run restore -- FOLDER --list                       names of the backups there

  --backup NAME   another than the newest
  --json          one line of JSON on what was restored
  --help          this text

DATA_DIR must be a new or an empty folder. Every byte is checked. Stop the old gateway before the new one starts.`;

function readOrder(args: readonly string[]) {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      backup: { type: 'string' },
      list: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const places = [...positionals, ...(values.from === undefined ? [] : [values.from])];
  const [, more] = places;
  if (more !== undefined) throw new CommandLineError(`It takes one place, not also "${more}". Try --help.`);
  return { ...values, place: places[0] };
}

type Order = ReturnType<typeof readOrder>;

/** What is asked for, of a place that is open. */
interface Opened {
  readonly target: BackupTarget;
  readonly order: Order;
}

async function listBackups({ print }: CommandContext, { target, order }: Opened): Promise<void> {
  const names = await target.listBackups();
  print(order.json === true ? JSON.stringify(names) : names.join('\n') || `There is no backup in ${target.place}.`);
}

async function restore({ environment, print }: CommandContext, { target, order }: Opened): Promise<void> {
  const { backup, json } = order;
  // Whoever calls has looked.
  const dataDir = environment.DATA_DIR ?? '';
  const manifest = await restoreBackup({ target, dataDir }, backup);
  if (json === true) {
    print(JSON.stringify({ dataDir, ...manifest }));
    return;
  }
  print(
    `Restored ${manifest.name} of ${target.place} into ${dataDir}: all that was acknowledged before ${manifest.startedAt}.`,
  );
  print(`Start it as before, with DATA_DIR=${dataDir} and STAGE=${manifest.stage}.`);
}

async function run(context: CommandContext, order: Order & { readonly place: string }): Promise<number> {
  const { environment } = context;
  if (!environment.DATA_DIR && order.list !== true) {
    throw new CommandLineError('Set DATA_DIR to a new folder: DATA_DIR=NEW npm run restore -- FOLDER.');
  }
  const target = await openTarget({ environment, purpose: 'read' }, order.place);
  try {
    if (order.list === true) await listBackups(context, { target, order });
    else await restore(context, { target, order });
    return 0;
  } finally {
    await target.close();
  }
}

/**
 * Runs `npm run restore` with these arguments.
 *
 * @param args - what stands behind the command
 * @returns the exit status: 0, 1 where nothing was restored, 2 for arguments that are none
 */
export async function runRestore(context: CommandContext, args: readonly string[]): Promise<number> {
  try {
    const { place, ...order } = readOrder(args);
    if (order.help === true) {
      context.print(HELP);
      return 0;
    }
    if (place === undefined) {
      context.complain(
        writeFailure(args, 'Give one place: npm run restore -- FOLDER, or --from s3://BUCKET/PREFIX. Try --help.'),
      );
      return USAGE_STATUS;
    }
    return await run(context, { ...order, place });
  } catch (error) {
    if (error instanceof CommandLineError) {
      context.complain(writeFailure(args, error.message));
      return USAGE_STATUS;
    }
    context.complain(writeFailure(args, `Nothing was restored. ${describeBackupFailure(error)}`));
    return 1;
  }
}
