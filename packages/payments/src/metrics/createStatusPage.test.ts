import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPaymentJournal } from '../journal/openPaymentJournal.ts';
import { createStatusPage } from './createStatusPage.ts';

test('the status tells of the journal as it is, in JSON', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-status-'));
  const journal = openPaymentJournal({ file: join(folder, 'payments.db'), now: Date.now });
  try {
    const read = () => JSON.parse(createStatusPage(journal)(new URL('http://127.0.0.1/status')).body);
    expect(read()).toEqual({ owner: '', counts: {}, payments: [] });
    journal.setFact('owner', '0x1 on 31337');
    journal.add({ paymentIntentId: 'pi_1', walletAddress: `0x${'7'.repeat(40)}`, stablecoinAmount: 2_500_000n });
    expect(read()).toEqual({ owner: '0x1 on 31337', counts: { seen: 1 }, payments: [] });
    journal.move('pi_1', 'claimed');
    expect(read()).toMatchObject({ counts: { claimed: 1 }, payments: [{ payment: 'pi_1', state: 'claimed' }] });
  } finally {
    journal.close();
    rmSync(folder, { recursive: true });
  }
});
