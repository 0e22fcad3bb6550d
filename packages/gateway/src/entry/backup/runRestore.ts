import { resolve } from 'node:path';
import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import { listBackups } from './backupFolder.ts';
import { describeBackupFailure } from './describeBackupFailure.ts';
import { restoreBackup } from './restoreBackup.ts';
import type { CommandContext } from './runBackup.ts';

const HELP = `Brings a backup of a gateway back, into a new folder.

  DATA_DIR=NEW npx prism restore FOLDER    the newest backup there
  npx prism restore FOLDER --list          names of the backups there

  --backup NAME   another than the newest
  --json          one line of JSON on what was restored
  --help          this text

DATA_DIR must be a new or an empty folder. Every byte is checked. Stop the old gateway before the new one starts.`;

function readOrder(args: readonly string[]) {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      backup: { type: 'string' },
      list: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [place, more] = positionals;
  if (more !== undefined) throw new CommandLineError(`It takes one folder, not also "${more}". Try --help.`);
  return { ...values, place };
}

/** The order, with the folder at `root`. */
interface Order extends ReturnType<typeof readOrder> {
  readonly root: string;
}

async function restore({ environment, print }: CommandContext, { root, backup, json }: Order): Promise<void> {
  const dataDir = environment.DATA_DIR;
  if (!dataDir) throw new CommandLineError('Set DATA_DIR to a new folder: DATA_DIR=NEW npx prism restore FOLDER.');
  const manifest = await restoreBackup({ root, dataDir }, backup);
  if (json === true) {
    print(JSON.stringify({ dataDir, ...manifest }));
    return;
  }
  print(
    `Restored ${manifest.name} of ${root} into ${dataDir}: all that was acknowledged before ${manifest.startedAt}.`,
  );
  print(`Start it as before, with DATA_DIR=${dataDir} and STAGE=${manifest.stage}.`);
}

async function run(context: CommandContext, order: Order): Promise<number> {
  if (order.list !== true) {
    await restore(context, order);
    return 0;
  }
  const names = listBackups(order.root);
  context.print(
    order.json === true ? JSON.stringify(names) : names.join('\n') || `There is no backup in ${order.root}.`,
  );
  return 0;
}

/**
 * Runs `npx prism restore` with these arguments.
 *
 * @param args - what stands behind the command
 * @returns the exit status: 0, 1 if nothing was restored, 2 for arguments that are none
 */
export async function runRestore(context: CommandContext, args: readonly string[]): Promise<number> {
  try {
    const order = readOrder(args);
    if (order.help === true) {
      context.print(HELP);
      return 0;
    }
    if (order.place === undefined) {
      context.complain(writeFailure(args, 'Give one folder: npx prism restore FOLDER. Try --help.'));
      return USAGE_STATUS;
    }
    return await run(context, { ...order, root: resolve(order.place) });
  } catch (error) {
    if (error instanceof CommandLineError) {
      context.complain(writeFailure(args, error.message));
      return USAGE_STATUS;
    }
    context.complain(writeFailure(args, `Nothing was restored. ${describeBackupFailure(error)}`));
    return 1;
  }
}
