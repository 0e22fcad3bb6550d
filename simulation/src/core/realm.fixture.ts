/** Plays processes that die, in a thread of its own: it takes the place of the machine's clock. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { lockFile } from '@prism-gateway/node';
import { restoreDisk, saveDisk } from './disks.ts';
import { readJournals } from './readJournals.ts';
import { createRealm } from './realm.ts';

const realm = createRealm({ seed: 'fixture' });
const { clock } = realm;
const directory = realm.diskOf('host');

/** Runs a process until its start is over. */
const start = <T>(main: () => Promise<T>) => clock.runUntilSettled(realm.start('program', 'host', main));

function open(): DatabaseSync {
  const database = new DatabaseSync(join(directory, 'a.db'));
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS words (word TEXT)');
  return database;
}

const listWords = async () => {
  const words = open().prepare('SELECT word FROM words').all();
  return words.map(({ word }) => word);
};

const messageOf = (error: unknown) => (error instanceof Error ? error.message : 'none');

let ticks = 0;
const first = await start(async () => {
  lockFile(join(directory, 'a.lock'));
  const database = open();
  database.exec("INSERT INTO words VALUES ('committed')");
  database.exec("BEGIN; INSERT INTO words VALUES ('not committed')");
  setInterval(() => ticks++, 1000);
});
const locked = await start(async () => lockFile(join(directory, 'a.lock'))).catch(
  (error: { code: string }) => error.code,
);
await clock.runUntil(clock.now() + 2500);
realm.kill(first.process);
await clock.runUntil(clock.now() + 5000);
const second = await start(async () => {
  lockFile(join(directory, 'a.lock'));
  return await listWords();
});
const journal = readJournals(directory, 'committed');
const saved = saveDisk(directory);
realm.kill(second.process);
const third = await start(async () => {
  const database = open();
  void (async () => {
    await pause(10);
    database.exec('BEGIN');
    database.exec("INSERT INTO words VALUES ('its last word')");
    database.exec('COMMIT');
    // Never reached: it is dead.
    database.exec("INSERT INTO words VALUES ('from beyond')");
  })().catch(() => undefined);
});
third.process.diesAfterCommits = 1;
await clock.runUntil(clock.now() + 100);
const fourth = await start(listWords);
realm.kill(fourth.process);
realm.disks.set('host', { isFull: true });
const full = await start(async () => {
  open().exec("INSERT INTO words VALUES ('no room')");
}).catch(messageOf);
realm.disks.delete('host');
restoreDisk(directory, saved);
const last = await start(listWords);
const result = {
  whileItLives: locked,
  afterTheKill: second.value,
  journal,
  ticks,
  diedAfterCommit: fourth.value,
  fullDisk: full,
  restored: last.value,
};
realm[Symbol.dispose]();
console.log(JSON.stringify(result));
process.exit(0);
