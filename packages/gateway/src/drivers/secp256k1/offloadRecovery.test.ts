import { randomBytes } from 'node:crypto';
import { loadSecp256k1, type RecoverPublicKey } from '@prism-gateway/node/crypto';
import { afterEach, expect, test } from 'vitest';
import { createWorkerThread, type OwnedWorkerThread } from '../../entry/workerThread/createWorkerThread.ts';
import { offloadRecovery } from './offloadRecovery.ts';

const { recoverPublicKey: recover } = loadSecp256k1('native');

let thread: OwnedWorkerThread | undefined;
afterEach(() => thread?.close());

/** Counts what is recovered on the thread that asks. */
function open() {
  let here = 0;
  const counting: RecoverPublicKey = (...job) => {
    here++;
    return recover(...job);
  };
  thread = createWorkerThread();
  return { recovery: offloadRecovery(counting, thread), countHere: () => here, endThread: thread.close };
}

/** Any `r` and `s` are somebody's signature, if there is a point; for a quarter of these, there is none. */
const makeJobs = (count: number) =>
  Array.from({ length: count }, (_, place) => {
    const signature = randomBytes(64);
    if (place % 4 === 0) signature.fill(0xff);
    return [randomBytes(32), signature, place % 2] as const;
  });

const expectAll = async (recovery: ReturnType<typeof offloadRecovery>, jobs: ReturnType<typeof makeJobs>) => {
  const keys = await Promise.all(jobs.map((job) => recovery.recoverPublicKey(...job)));
  expect(keys.map((key) => key && Buffer.from(key).toString('hex'))).toEqual(
    jobs.map((job) => {
      const key = recover(...job);
      return key && Buffer.from(key).toString('hex');
    }),
  );
};

test('what comes in a turn is recovered elsewhere, each to its own answer', async () => {
  const { recovery, countHere } = open();
  for (let round = 0; round < 5; round++) await expectAll(recovery, makeJobs(12));
  expect(countHere()).toBe(0);
});

test('what is more than the other thread is to have at once is recovered here', async () => {
  const { recovery, countHere } = open();
  for (let round = 1; round <= 3; round++) {
    await expectAll(recovery, makeJobs(40));
    // Three batches of four go away.
    expect(countHere()).toBe(round * 28);
  }
});

test('few are recovered here', async () => {
  const { recovery, countHere } = open();
  await expectAll(recovery, makeJobs(3));
  expect(countHere()).toBe(3);
});

test('what is asked in later turns while the thread is busy comes back to its own asker', async () => {
  const { recovery } = open();
  const rounds = Array.from({ length: 20 }, () => makeJobs(7));
  await Promise.all(
    rounds.map(async (jobs, round) => {
      for (let turns = 0; turns < round; turns++) await new Promise(setImmediate);
      await expectAll(recovery, jobs);
    }),
  );
});

test('when the thread ends, whatever it had and whatever comes is recovered here', async () => {
  const { recovery, countHere, endThread } = open();
  const jobs = makeJobs(60);
  const answers = expectAll(recovery, jobs);
  // After the batch was sent, and before the thread has loaded.
  await new Promise(setImmediate);
  await endThread();
  await answers;
  expect(countHere()).toBe(60);
  await expectAll(recovery, makeJobs(3));
  expect(countHere()).toBe(63);
});
