import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createFakeClock, createLogRecorder } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { migrateDatabase } from '../files/migrateDatabase.ts';
import { type Alert, type AlertChannel, AlertRefusedError } from './alert.ts';
import { createLatch } from './createLatch.ts';
import { createOutbox } from './createOutbox.ts';
import { commitTogether, createOutboxTable, OUTBOX_SCHEMA } from './createOutboxTable.ts';

const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 60_000;

const alertOf = (code: string, subject = `it is ${code}`, severity: Alert['severity'] = 'warning'): Alert => ({
  code,
  severity,
  subject,
  text: 'See to it.',
});

/** A journal in a file, and a channel that may be away. */
function setUp() {
  const dir = mkdtempSync(join(tmpdir(), 'outbox-'));
  const clock = createFakeClock();
  const database = new DatabaseSync(join(dir, 'alerts.db'));
  migrateDatabase(database, [OUTBOX_SCHEMA]);
  const commit = <Result>(write: () => Result) => commitTogether(database, write);
  const journal = { outbox: createOutboxTable(database, { now: clock.now, commit }), commit };
  const taken: Alert[] = [];
  const line = { isUp: true, refuses: '' };
  const channel: AlertChannel = {
    name: 'chat',
    async deliver(alert) {
      if (!line.isUp) throw new Error('away');
      if (alert.code === line.refuses) throw new AlertRefusedError({ status: 400 });
      taken.push(alert);
    },
    close: () => undefined,
  };
  const open = () =>
    createOutbox({
      outbox: journal.outbox,
      channels: [channel],
      log: createLogRecorder(),
      redact: (text) => text,
      signature: 'Instance A on chain 1.',
      guide: (code) => (code === 'TWO' ? 'What to do: wait.' : undefined),
      now: clock.now,
      firstPauseMs: 1,
    });
  const dispose = () => {
    database.close();
    rmSync(dir, { recursive: true });
  };
  const fill = (what: string) =>
    database.exec(
      `CREATE TRIGGER full BEFORE INSERT ON ${what} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`,
    );
  const free = () => database.exec('DROP TRIGGER full');
  return { clock, journal, taken, line, open, fill, free, [Symbol.dispose]: dispose };
}

test('what a channel has not taken is delivered after a restart, with its instance, and what it has taken is not', async () => {
  using scene = setUp();
  const { taken, line, open } = scene;
  let outbox = open();
  outbox.raise(alertOf('ONE'));
  await outbox.drain(TIMEOUT_MS);
  line.isUp = false;
  outbox.raise(alertOf('TWO'));
  outbox.close();
  line.isUp = true;
  outbox = open();
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken.map(({ code }) => code)).toEqual(['ONE', 'TWO']);
  expect(taken[1]?.text).toBe('See to it.\nWhat to do: wait.\nInstance A on chain 1.');
});

test('an alert that is refused for what it says holds up no other, and is tried again', async () => {
  using scene = setUp();
  const { taken, line, open } = scene;
  line.refuses = 'ONE';
  const outbox = open();
  for (const code of ['ONE', 'TWO', 'THREE']) outbox.raise(alertOf(code));
  await expect.poll(() => taken.map(({ code }) => code), { timeout: TIMEOUT_MS }).toEqual(['TWO', 'THREE']);
  line.refuses = '';
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken.map(({ code }) => code)).toEqual(['TWO', 'THREE', 'ONE']);
});

test('an alert is written in the commit of its move: what is undone tells nobody', async () => {
  using scene = setUp();
  const outbox = scene.open();
  const undone = () =>
    scene.journal.commit(() => {
      outbox.raise(alertOf('UNDONE'));
      throw new Error('disk full');
    });
  expect(undone).toThrow('disk full');
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(scene.taken).toEqual([]);
});

test('alerts of one cause that have gathered are one message with a count', async () => {
  using scene = setUp();
  const { journal, taken, open } = scene;
  for (let count = 1; count <= 14; count++) journal.outbox.add(alertOf('HELD', `Payment pi_${count} is held`));
  journal.outbox.add(alertOf('OTHER'));
  const outbox = open();
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken.map(({ subject }) => subject)).toEqual(['Payment pi_14 is held (14 of this kind)', 'it is OTHER']);
});

test('a channel gets ten messages an hour, the last of which sums up the rest', async () => {
  using scene = setUp();
  const { clock, journal, taken, open } = scene;
  for (let count = 1; count <= 30; count++) journal.outbox.add(alertOf(`CODE_${count}`));
  for (const intent of ['pi_1', 'pi_2']) journal.outbox.add(alertOf('HELD', `Payment ${intent} is held`));
  let outbox = open();
  await outbox.drain(TIMEOUT_MS);
  expect(taken).toHaveLength(10);
  expect(taken[9]?.code).toBe('ALERTS_SUMMED_UP');
  expect(taken[9]?.text).toContain('it is CODE_30');
  // Each of those that have one cause, too.
  expect(taken[9]?.text).toContain('Payment pi_1 is held');
  expect(taken[9]?.text).toContain('Payment pi_2 is held');
  outbox.raise(alertOf('LATER'));
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken).toHaveLength(10);
  clock.advance(HOUR_MS + 1000);
  outbox = open();
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken.at(-1)?.code).toBe('LATER');
});

// Shows ALERT-4.
test('a condition that comes and goes has a budget of its own, and keeps no critical alert back', async () => {
  using scene = setUp();
  const { clock, journal, taken, open } = scene;
  const outbox = open();
  for (let count = 1; count <= 40; count++) {
    outbox.raise(alertOf(count % 2 === 1 ? 'GAS_PRICE_TOO_HIGH' : 'GAS_PRICE_TOO_HIGH_OVER'));
    await outbox.drain(TIMEOUT_MS);
    clock.advance(30_000);
  }
  expect(taken).toHaveLength(4);
  for (let count = 1; count <= 12; count++) outbox.raise(alertOf(`CODE_${count}`));
  await outbox.drain(TIMEOUT_MS);
  outbox.raise(alertOf('KEY_USED_ELSEWHERE', 'stopped', 'critical'));
  await outbox.drain(TIMEOUT_MS);
  expect(taken).toHaveLength(11);
  expect(taken.at(-1)?.code).toBe('KEY_USED_ELSEWHERE');
  expect(journal.outbox.listBacklogs()).toMatchObject([{ channel: 'chat' }]);
  outbox.close();
});

test('of those that wait, the critical one is first', async () => {
  using scene = setUp();
  const { journal, taken, line, open } = scene;
  line.isUp = false;
  for (let count = 1; count <= 5; count++) journal.outbox.add(alertOf(`CODE_${count}`));
  journal.outbox.add(alertOf('PAID_TWICE', 'twice', 'critical'));
  line.isUp = true;
  const outbox = open();
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken[0]?.code).toBe('PAID_TWICE');
});

test('24 of one kind are all named', async () => {
  using scene = setUp();
  const { journal, taken, open } = scene;
  for (let count = 1; count <= 24; count++) journal.outbox.add(alertOf('PAYMENT_REFUSED', `Payment pi_${count}.`));
  const outbox = open();
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken).toHaveLength(1);
  for (let count = 1; count <= 24; count++) expect(taken[0]?.text).toContain(`pi_${count}.`);
});

test('a condition is reported once, again a day later, and when it is over, across restarts', () => {
  using scene = setUp();
  const { clock, journal } = scene;
  const reported: string[] = [];
  const alerter = {
    raise: ({ subject }: Alert) => void reported.push(subject),
    notify: () => undefined,
    drain: async () => undefined,
    close: () => undefined,
  };
  const latch = () =>
    createLatch(
      { alerter, journal, now: clock.now },
      { code: 'DRY', subject: 'dry', over: 'wet', relief: 'It rains.' },
    );
  latch().clear();
  latch().raise('no water');
  latch().raise('no water');
  clock.advance(25 * HOUR_MS);
  latch().raise('no water');
  latch().clear();
  latch().clear();
  expect(reported).toEqual(['dry', 'Still: dry', 'wet']);
});

test('on a full disk what was delivered is not delivered again, it counts against the hour, and what cannot be written down is reported', async () => {
  using scene = setUp();
  const { journal, taken, open, fill, free } = scene;
  for (let count = 1; count <= 12; count++) journal.outbox.add(alertOf(`CODE_${count}`));
  // Its first alert says from which on a channel is alerted.
  journal.outbox.listWaiting('chat');
  fill('deliveries');
  let outbox = open();
  outbox.notify(alertOf('FULL'));
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken).toHaveLength(10);
  expect(taken.filter(({ code }) => code === 'FULL')).toHaveLength(1);
  expect(taken.at(-1)?.code).toBe('ALERTS_SUMMED_UP');
  expect(new Set(taken.map(({ code }) => code)).size).toBe(10);
  free();
  outbox = open();
  outbox.close();
});

test('a channel lives on when the journal could not be read for a while', async () => {
  using scene = setUp();
  const { journal, taken, open } = scene;
  const { listWaiting } = journal.outbox;
  let failures = 1;
  Object.assign(journal.outbox, {
    listWaiting(channel: string) {
      if (failures-- > 0) throw new Error('database or disk is full');
      return listWaiting(channel);
    },
  });
  const outbox = open();
  outbox.raise(alertOf('ONE'));
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken.map(({ code }) => code)).toEqual(['ONE']);
});

test('a clock that was set back by a day silences no channel, and no reminder for longer than a day', async () => {
  using scene = setUp();
  const { clock, journal, taken, open } = scene;
  for (let count = 1; count <= 30; count++) journal.outbox.add(alertOf(`CODE_${count}`));
  const outbox = open();
  await outbox.drain(TIMEOUT_MS);
  expect(taken).toHaveLength(10);
  clock.advance(-24 * HOUR_MS);
  outbox.raise(alertOf('LATER'));
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken.at(-1)?.code).toBe('LATER');
  const reported: string[] = [];
  const alerter = { ...outbox, raise: ({ subject }: Alert) => void reported.push(subject) };
  const words = { code: 'DRY', subject: 'dry', over: 'wet', relief: 'It rains.' };
  const latch = createLatch({ alerter, journal, now: clock.now }, words);
  latch.raise('no water');
  clock.advance(-48 * HOUR_MS);
  latch.raise('no water');
  expect(reported).toEqual(['dry', 'Still: dry']);
});

test('an alert is delivered though all before it are forgotten: those of a month ago, once a channel has taken them', async () => {
  using scene = setUp();
  const { clock, journal, taken, line, open } = scene;
  const outbox = open();
  outbox.raise(alertOf('ONE'));
  await outbox.drain(TIMEOUT_MS);
  line.isUp = false;
  outbox.raise(alertOf('TWO'));
  clock.advance(31 * 24 * HOUR_MS);
  line.isUp = true;
  await outbox.drain(TIMEOUT_MS);
  outbox.raise(alertOf('THREE'));
  await outbox.drain(TIMEOUT_MS);
  outbox.close();
  expect(taken.map(({ code }) => code)).toEqual(['ONE', 'TWO', 'THREE']);
  expect(journal.outbox.listDeliveredSince('chat', 0).map(({ code }) => code)).toEqual(['THREE']);
});

test('while there is no channel, alerts are kept for a month', () => {
  using scene = setUp();
  const { clock, journal } = scene;
  journal.outbox.add(alertOf('ONE'));
  clock.advance(31 * 24 * HOUR_MS);
  journal.outbox.add(alertOf('TWO'));
  expect(journal.outbox.listWaiting('chat').map(({ alert }) => alert.code)).toEqual(['TWO']);
});

test('what one channel takes a month after another one, and is forgotten by then, leaves nothing that waits to be written down', () => {
  using scene = setUp();
  const { clock, journal } = scene;
  const { outbox } = journal;
  outbox.add(alertOf('ONE'));
  expect([outbox.listWaiting('chat'), outbox.listWaiting('mail')].map(({ length }) => length)).toEqual([1, 1]);
  outbox.markDelivered('chat', [1]);
  clock.advance(31 * 24 * HOUR_MS);
  outbox.add(alertOf('TWO'));
  outbox.markDelivered('chat', [2]);
  outbox.markDelivered('mail', [1, 2]);
  expect(outbox.listWaiting('mail')).toEqual([]);
});
