/** `DATA_DIR=NEW npm run restore -- FOLDER`: brings a backup back. */
import { parseArgs } from 'node:util';
import type { BackupTarget } from './backup/backupTarget.ts';
import { describeBackupFailure } from './backup/describeBackupFailure.ts';
import { openTarget } from './backup/openTarget.ts';
import { restoreBackup } from './backup/restoreBackup.ts';

const HELP = `Brings a backup of a gateway back, into a new folder.

  DATA_DIR=NEW npm run restore -- FOLDER                 the newest backup there
  DATA_DIR=NEW npm run restore -- --from s3://BUCKET/PREFIX
  npm run restore -- FOLDER --list                       names of the backups there

  --backup NAME   another than the newest
  --json          one line of JSON on what was restored
  --help          this text

DATA_DIR must be a new or an empty folder. Every byte is checked. Stop the old gateway before the new one starts.`;

function readOrder(args: readonly string[]) {
  const { values, positionals } = parseArgs({
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
  return { ...values, place: places.length === 1 ? places[0] : undefined };
}

type Order = ReturnType<typeof readOrder>;

async function listBackups(target: BackupTarget, { json }: Order): Promise<void> {
  const names = await target.listBackups();
  console.log(json === true ? JSON.stringify(names) : names.join('\n') || `There is no backup in ${target.place}.`);
}

async function restore(
  target: BackupTarget,
  { backup, json, dataDir }: Order & { readonly dataDir: string },
): Promise<void> {
  const manifest = await restoreBackup({ target, dataDir }, backup);
  if (json === true) {
    console.log(JSON.stringify({ dataDir, ...manifest }));
    return;
  }
  console.log(
    `Restored ${manifest.name} of ${target.place} into ${dataDir}: all that was acknowledged before ${manifest.startedAt}.`,
  );
  console.log(`Start it as before, with DATA_DIR=${dataDir} and STAGE=${manifest.stage}.`);
}

async function run(place: string, order: Order): Promise<number> {
  const dataDir = process.env.DATA_DIR;
  if (!dataDir && order.list !== true) {
    console.error('Set DATA_DIR to a new folder: DATA_DIR=NEW npm run restore -- FOLDER.');
    return 2;
  }
  const target = await openTarget({ environment: process.env, purpose: 'read' }, place);
  try {
    if (order.list === true) await listBackups(target, order);
    else await restore(target, { ...order, dataDir: dataDir ?? '' });
    return 0;
  } finally {
    await target.close();
  }
}

async function main(): Promise<number> {
  try {
    const order = readOrder(process.argv.slice(2));
    if (order.help === true) {
      console.log(HELP);
      return 0;
    }
    if (order.place === undefined) {
      console.error('Give one place: npm run restore -- FOLDER, or --from s3://BUCKET/PREFIX. See --help.');
      return 2;
    }
    return await run(order.place, order);
  } catch (error) {
    console.error(`Nothing was restored. ${describeBackupFailure(error)}`);
    return 1;
  }
}

process.exitCode = await main();
