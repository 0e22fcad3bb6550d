import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPaymentJournal } from '../journal/openPaymentJournal.ts';
import { createStatusPage } from './createStatusPage.ts';

test('the status tells of journal, day and treasury as they are, in JSON', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-status-'));
  const journal = openPaymentJournal({ file: join(folder, 'payments.db'), now: Date.now });
  try {
    const day = { day: '2027-01-31', dailyLimit: 5_000_000n, dailyCreditLimit: 10n ** 22n };
    const balances = { ether: 10n ** 17n, stablecoins: 2_500_000n, credits: 10n ** 18n };
    let reported = [balances];
    const page = createStatusPage({
      journal,
      readDay: () => ({ ...day, ...journal.spentOn(day.day) }),
      readAccountBalances: async () => reported[0] ?? Promise.reject(new Error('silent')),
    });
    const read = async (about = '') => JSON.parse((await page(new URL(`http://127.0.0.1/status?about=${about}`))).body);
    const nothing = { program: 'payments', owner: '', counts: {}, mail: [], conditions: [], payments: [] };
    const today = { day: '2027-01-31', completed: 0, stablecoins: '0.00', stablecoinLimit: '5.00', credits: '0.00' };
    const treasury = { ether: '0.10', stablecoins: '2.50', credits: '1.00' };
    expect(await read()).toEqual({ ...nothing, today: { ...today, creditLimit: '10,000.00' }, treasury });
    journal.setFact('owner', '0x1 on 31337');
    journal.add({ paymentIntentId: 'pi_1', walletAddress: `0x${'7'.repeat(40)}`, stablecoinAmount: 2_500_000n });
    reported = [];
    const seen = { owner: '0x1 on 31337', counts: { seen: 1 }, mail: [], payments: [] };
    expect(await read()).toMatchObject(seen);
    expect(await read()).not.toHaveProperty('treasury');
    journal.outbox.listWaiting('chat');
    journal.outbox.add({ code: 'ONE', severity: 'warning', subject: 'one', text: 'one' });
    journal.move('pi_1', 'claimed');
    journal.outbox.setCondition('GAS_PRICE_TOO_HIGH', { sinceMs: 0, alertedAtMs: 0 });
    expect(await read('pi_1')).toMatchObject({
      conditions: [{ name: 'GAS_PRICE_TOO_HIGH', since: '1970-01-01T00:00:00Z' }],
      story: { payment: { payment: 'pi_1' }, events: [{ event: 'listed: seen' }, { event: 'claimed' }] },
      counts: { claimed: 1 },
      mail: [{ channel: 'chat', count: 1 }],
      payments: [{ payment: 'pi_1', state: 'claimed' }],
    });
  } finally {
    journal.close();
    rmSync(folder, { recursive: true });
  }
});
