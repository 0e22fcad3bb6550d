import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { mountSmall } from '@prism-gateway/testing';
import { drawSome } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
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
const OWED = computeCreditsOwed(AMOUNT, 1000n);

const STATES = ['claimed', 'buying', 'bought', 'transferring', 'transferred', 'completed'] as const;

const disk = mountSmall();
let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 300 });
});

afterEach(() => disk?.free());

afterAll(async () => {
  await rig.close();
  disk?.close();
});

/** Has a disk run full right after the first move to a state. */
function fillAfter(journal: PaymentJournal, state: PaymentState): void {
  const { move } = journal;
  let isFilled = false;
  Object.assign(journal, {
    move: (...given: Parameters<PaymentJournal['move']>) => {
      const moved = move(...given);
      if (moved.state === state && !isFilled) disk?.fill();
      if (moved.state === state) isFilled = true;
      return moved;
    },
  });
}

test.skipIf(disk === undefined)(
  'a file system that runs full at each step of a payment: told, not paid twice, and over by itself',
  async () => {
    for (const state of drawSome(STATES, { of: 'steps on a full disk', small: 2 })) {
      const key = await rig.fundKey();
      const frontend = await rig.startFrontend();
      const settings = {
        ...rig.settingsFor(key, [], frontend),
        DATA_DIR: join(`${disk?.dir}`, state),
        RETRY_DELAY_MS: '20',
      };
      const instance = await runInstance(settings, (journal) => fillAfter(journal, state));
      const first = rig.addPayment(AMOUNT, frontend);
      const isFull = () => existsSync(join(`${disk?.dir}`, 'filler'));
      await waitUntil(isFull, { timeoutMs: TIMEOUT_MS, what: `never ${state}` });
      const second = rig.addPayment(AMOUNT, frontend);
      const isReported = () => instance.reported.some(({ code }) => code === 'JOURNAL_FAILED');
      await waitUntil(isReported, { timeoutMs: TIMEOUT_MS, what: `not told: ${state}` });
      disk?.free();
      const isOver = () =>
        instance.relayer.journal.list(['completed']).length === 2 && codesOf(instance).includes('JOURNAL_FAILED_OVER');
      await waitUntil(isOver, { timeoutMs: TIMEOUT_MS, what: `not over: ${state}` });
      for (const { paymentIntentId, walletAddress } of [first, second]) {
        expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
        expect(await rig.creditsOf(walletAddress)).toBe(OWED);
      }
      expect(instance.reported.map(({ code }) => code)).toEqual(['JOURNAL_FAILED']);
      await instance.stop();
    }
  },
);

test.skipIf(disk === undefined)(
  'commands on a full disk: what reads does, a backup leaves nothing half done, and one to elsewhere is made',
  async () => {
    const key = await rig.fundKey();
    const frontend = await rig.startFrontend();
    const settings = { ...rig.settingsFor(key, [], frontend), DATA_DIR: join(`${disk?.dir}`, 'commands') };
    const instance = await runInstance(settings);
    const { paymentIntentId } = rig.addPayment(AMOUNT, frontend);
    await waitUntil(() => instance.relayer.journal.list(['completed']).length === 1, {
      timeoutMs: TIMEOUT_MS,
      what: 'not completed',
    });
    disk?.fill();
    const run = async (...argv: readonly string[]) => {
      const printed: string[] = [];
      const code = await runCommand(argv, { environment: settings, print: (text) => printed.push(text) });
      return `${code}: ${printed.join('\n')}`;
    };
    expect(await run('list')).toContain(paymentIntentId);
    expect(await run('ledger', '--csv')).toContain('7.000001');
    const inside = join(`${disk?.dir}`, 'backup');
    await expect(run('backup', inside)).rejects.toThrow(/There is no backup in .*: .*full.*Nothing of it is left/);
    expect(existsSync(inside) ? readdirSync(inside) : []).toEqual([]);
    const outside = join(rig.dir, `backup-${key.address}`);
    expect(await run('backup', outside)).toContain('0: ');
    expect(readdirSync(outside).toSorted()).toEqual(['payments.db', 'sender.db']);
    disk?.free();
    expect(await run('backup', inside)).toContain('0: ');
    await instance.stop();
  },
);
