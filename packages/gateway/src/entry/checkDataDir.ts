import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { assertKnownSchemas, NewerSchemaError } from '@prism-gateway/node';
import { schemasOf } from '../drivers/sqlite/schema.ts';
import { quoteName } from '../drivers/sqlite/tables.ts';
import { assertRestored } from './backup/assertRestored.ts';
import { bad, type Finding, well } from './finding.ts';
import { readLocalSecrets } from './secrets.ts';
import type { Settings } from './settings.ts';

/** Free space that a gateway should have, in bytes. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;
/** Stored times cannot be later than now; a clock set back by more than this is refused. */
const MAX_CLOCK_SKEW_MS = 5000;

const RESTORE = 'Restore a backup into a new DATA_DIR: npx prism restore --help.';
const DOWNGRADE =
  'Start the version that has written it, or bring back a backup of this one: docs/operations.md, "Upgrade, and go back".';

type DataFiles = Pick<Settings, 'DATA_DIR' | 'databaseFile' | 'tables'>;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The folder, or the one above in which it would be made. */
const findExisting = (folder: string): string => (existsSync(folder) ? folder : findExisting(dirname(folder)));

/** @returns whether a gateway can write there, and has some room */
export function checkDisk({ DATA_DIR }: Pick<DataFiles, 'DATA_DIR'>): Finding {
  const folder = resolve(DATA_DIR);
  try {
    const place = findExisting(folder);
    if (!statSync(place).isDirectory()) return bad(`${place} is a file`, 'Set DATA_DIR to a folder.')('disk');
    accessSync(place, constants.W_OK);
    const { bavail, bsize } = statfsSync(place);
    const free = bavail * bsize;
    const found = `${(free / 1e9).toFixed(1)} GB free for ${folder}`;
    if (free >= MIN_FREE_BYTES) return well('disk', found);
    return bad(found, 'Free some space, or set DATA_DIR to another disk.')('disk');
  } catch (error) {
    return bad(messageOf(error), 'Set DATA_DIR to a folder that this user may write.')('disk');
  }
}

/** When the newest request was made, in milliseconds since the epoch. */
function readNewest(database: DatabaseSync, { requests }: DataFiles['tables']): number | undefined {
  const row = database.prepare(`SELECT created_at FROM ${quoteName(requests)} ORDER BY seq DESC LIMIT 1`).get();
  return row === undefined ? undefined : Number(row.created_at);
}

function checkOpened(database: DatabaseSync, { databaseFile, tables }: DataFiles, now: number): readonly Finding[] {
  assertKnownSchemas(database, schemasOf(tables));
  const { parts } = database.prepare('SELECT count(*) AS parts FROM sqlite_schema').get() ?? {};
  const opens = well('database', `${databaseFile} opens, with ${Number(parts)} tables and indexes`);
  const aheadMs = (readNewest(database, tables) ?? 0) - now;
  if (aheadMs <= MAX_CLOCK_SKEW_MS) return [opens];
  const found = `the newest request was stored ${Math.round(aheadMs / 1000)} s later than it is now`;
  return [opens, bad(found, "The clock was set back: let the system's time service set it.")('clock')];
}

/**
 * Looks at the database: whether this version can open it, and whether the clock goes on from where it was.
 *
 * @param now - milliseconds since the epoch
 */
export function checkDatabase(place: DataFiles, now: number): readonly Finding[] {
  const { DATA_DIR, databaseFile } = place;
  try {
    assertRestored(DATA_DIR);
    if (!existsSync(databaseFile))
      return [well('database', `${databaseFile} is not there yet: the first start makes it`)];
    const database = new DatabaseSync(databaseFile, { readOnly: true });
    try {
      return checkOpened(database, place, now);
    } finally {
      database.close();
    }
  } catch (error) {
    return [bad(messageOf(error), error instanceof NewerSchemaError ? DOWNGRADE : RESTORE)('database')];
  }
}

/** Looks at the secrets that were made at the first start. */
export function checkSecrets({ DATA_DIR }: Pick<DataFiles, 'DATA_DIR'>): readonly Finding[] {
  const file = join(DATA_DIR, 'secrets.json');
  if (!existsSync(file)) return [];
  try {
    readLocalSecrets(file);
    return [well('secrets', `${file} can be read`)];
  } catch (error) {
    const advice = 'Bring the file back from a backup. With a new one, cursors and signed URLs from before end.';
    return [bad(messageOf(error), advice)('secrets')];
  }
}
