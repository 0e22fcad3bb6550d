/** `npm run backup -- FOLDER`: copies all that a gateway keeps, while it runs. */
import { constants, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { readBackupSettings } from './backup/backupSettings.ts';
import { createBackup } from './backup/createBackup.ts';
import { describeBackupFailure } from './backup/describeBackupFailure.ts';
import { openTarget } from './backup/openTarget.ts';

const HELP = `Backs up the gateway's database, objects and secrets, while it runs.

  npm run backup -- FOLDER                  into a folder; a later backup adds only what is new of the objects
  npm run backup -- --to s3://BUCKET/PREFIX  into a bucket; region, keys and endpoint as the AWS SDK reads them

  --json     one line of JSON on what was backed up
  --help     this text

It reads DATA_DIR, STAGE, STORE and STORAGE_BUCKET as the gateway does: run it with the gateway's own environment. What was
acknowledged before it began is in the backup. \`npm run restore\` brings it back.`;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function readPlace(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { to: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  const places = [...positionals, ...(values.to === undefined ? [] : [values.to])];
  return { place: places.length === 1 ? places[0] : undefined, json: values.json === true, help: values.help === true };
}

async function backUp(place: string, isJson: boolean): Promise<void> {
  const settings = readBackupSettings(process.env);
  // Whoever waits for an answer of the gateway goes first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const startedMs = performance.now();
  const target = await openTarget({ environment: process.env, purpose: 'write' }, place);
  try {
    const { manifest, newObjectBytes } = await createBackup({ settings, target, now: Date.now });
    const seconds = (performance.now() - startedMs) / 1000;
    if (isJson) console.log(JSON.stringify({ place: target.place, ...manifest, newObjectBytes, seconds }));
    else {
      const { name, database, objects } = manifest;
      const kept =
        objects === null
          ? 'objects are in their bucket'
          : `${objects.count} objects, ${megabytes(newObjectBytes)} of them new`;
      console.log(
        `Backed up to ${target.place} as ${name} in ${seconds.toFixed(1)} s: database ${megabytes(database.bytes)}, ${kept}.`,
      );
    }
  } finally {
    await target.close();
  }
}

async function main(): Promise<number> {
  try {
    const { place, json, help } = readPlace(process.argv.slice(2));
    if (help) {
      console.log(HELP);
      return 0;
    }
    if (place === undefined) {
      console.error('Give one place: npm run backup -- FOLDER, or npm run backup -- --to s3://BUCKET/PREFIX.');
      return 2;
    }
    await backUp(place, json);
    return 0;
  } catch (error) {
    console.error(`No backup was made. ${describeBackupFailure(error)}`);
    return 1;
  }
}

process.exitCode = await main();
