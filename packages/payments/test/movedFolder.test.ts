import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { drawSome } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { payoutIdOf } from '../src/chain/calls.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import type { PaymentJournal } from '../src/journal/openPaymentJournal.ts';
import type { PaymentState } from '../src/journal/paymentState.ts';
import { runInstance } from './rig/runInstance.ts';
import { codesOf } from './rig/startScene.ts';

const AMOUNT = 7_000_001n;
const STATES = ['seen', 'bought', 'transferring'] as const;

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 300 });
});

afterAll(() => rig.close());

/** Has a folder moved away right after a payment has got to a state. */
function moveAfter(journal: PaymentJournal, when: { readonly state: PaymentState; readonly act: () => void }) {
  const watch = (name: 'add' | 'move') => {
    const write = journal[name] as (...given: unknown[]) => ReturnType<PaymentJournal['move']>;
    return (...given: unknown[]) => {
      const payment = write(...given);
      // What is not committed yet is not there.
      if (payment.state === when.state) queueMicrotask(when.act);
      return payment;
    };
  };
  Object.assign(journal, { add: watch('add'), move: watch('move') });
}

test.each(drawSome(STATES, { of: 'steps after which the folder is moved', small: 1 }))(
  'the folder is moved away from a running process when a payment is %s, and a second one starts on a copy: paid once',
  async (state) => {
    const key = await rig.fundKey();
    const frontend = await rig.startFrontend();
    const settings = rig.settingsFor(key, [], frontend);
    const dataDir = `${settings.DATA_DIR}`;
    let isArmed = false;
    const act = () => {
      if (isArmed) renameSync(dataDir, `${dataDir}-away`);
      isArmed = false;
    };
    const first = await runInstance(settings, (journal) => moveAfter(journal, { state, act }));
    const early = rig.addPayment(AMOUNT, frontend);
    const isDone = () => first.relayer.journal.list(['completed']).length === 1;
    await waitUntil(isDone, { timeoutMs: TIMEOUT_MS, what: 'not completed' });
    const copy = join(rig.dir, `copy-${state}`);
    const run = (...argv: readonly string[]) =>
      runCommand(argv, { environment: settings, print: () => undefined }).then((code) => expect(code).toBe(0));
    await run('backup', copy);
    isArmed = true;
    const payments = [early, rig.addPayment(AMOUNT, frontend)];
    await waitUntil(() => !isArmed, { timeoutMs: TIMEOUT_MS, what: `never ${state}` });
    const isReported = () => first.reported.some(({ text }) => text.includes(`${dataDir}/payments.db is not the file`));
    payments.push(rig.addPayment(AMOUNT, frontend));
    await waitUntil(isReported, { timeoutMs: TIMEOUT_MS, what: 'not told' });
    renameSync(copy, dataDir);
    // As on another machine: nothing else keeps two processes of one key apart.
    const second = await runInstance({ ...settings, LOCK_DIR: join(rig.dir, `locks-${state}`) });
    if (state !== 'seen') {
      const isStopped = () => codesOf(second).includes('KEY_USED_ELSEWHERE');
      await waitUntil(isStopped, { timeoutMs: TIMEOUT_MS, what: 'the transactions of the first are not seen' });
      await run('resume', '--why', 'they are those of the folder that was moved');
    }
    await waitUntil(() => frontend.store.list().every(({ txHash }) => txHash !== undefined), {
      timeoutMs: TIMEOUT_MS,
      what: 'not paid',
    });
    for (const { paymentIntentId, walletAddress } of payments) {
      expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
      expect(await rig.creditsOf(walletAddress)).toBe(computeCreditsOwed(AMOUNT, 1000n));
    }
    await Promise.all([first.stop(), second.stop()]);
  },
);
