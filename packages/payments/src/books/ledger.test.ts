import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkListing } from '../frontend/checkListing.ts';
import { openPaymentJournal, type PaymentJournal } from '../journal/openPaymentJournal.ts';
import { writeLedger } from './ledger.ts';
import { writeCsv } from './writeCsv.ts';

const WALLET = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
/** Texts that make a spreadsheet compute a cell, or split it from the one before. */
const ATTACKS = [
  '=cmd|calc!A1',
  '+1+1',
  '-2+3',
  '@SUM(1)',
  '"=1+1',
  ';=1+1',
  'a;=1+1',
  'a,"=1+1',
  'a";=1+1;"',
  ',=1+1',
];
const FORMULA = /^\s*[=+\-@\t\r]/;

let dir: string;
let journal: PaymentJournal;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'ledger-'));
  journal = openPaymentJournal({ file: join(dir, 'payments.db'), now: Date.now });
});

afterAll(() => {
  journal.close();
  rmSync(dir, { recursive: true });
});

const entry = (paymentIntentId: string) => ({ paymentIntentId, walletAddress: WALLET, stablecoinAmount: '7000000' });

/** Parts a line as a spreadsheet does that is set to a separator: it takes what follows a closing quote mark as it stands. */
function partAs(separator: string, line: string): readonly string[] {
  const cells = line.matchAll(new RegExp(`(?:^|${separator})(?:"((?:[^"]|"")*)")?([^${separator}]*)`, 'g'));
  return [...cells].map(([, quoted = '', rest = '']) => quoted.replaceAll('""', '"') + rest);
}

test("no text of a stranger's choice is a formula in the ledger, wherever a spreadsheet parts its cells", () => {
  const { payments, faults } = checkListing(ATTACKS.map(entry), []);
  expect(faults).toEqual([]);
  for (const { paymentIntentId } of payments.map((listed) => journal.add(listed))) {
    journal.move(paymentIntentId, 'claimed', { creditsOwed: 7n * 10n ** 21n, rate: 1000n });
    journal.move(paymentIntentId, 'transferred', { txHash: `0x${'ab'.repeat(32)}`, paidBy: WALLET });
  }
  const csv = writeCsv(writeLedger(journal, 0).lines);
  for (const separator of [',', ';', '\t']) {
    const cells = csv.split('\n').flatMap((line) => partAs(separator, line));
    expect(cells.length).toBeGreaterThan(ATTACKS.length);
    expect(cells.filter((cell) => FORMULA.test(cell))).toEqual([]);
  }
  const [head = [], ...rows] = csv.split('\n').map((line) => partAs(',', line));
  expect(head[0]).toBe('paymentIntentId');
  expect(rows.map(([id]) => id?.replace(/^'/, ''))).toEqual(ATTACKS);
});

test('what begins a formula in no visible letter is no payment intent, nor any other text in place of wallet and amount', () => {
  const ids = ['\t=1+1', '\r=1+1', ' =1+1', '\uFF1D1+1', '=1+1\n=2'];
  const fields = [{ walletAddress: '=1+1' }, { stablecoinAmount: '=1+1' }, { stablecoinAmount: '-1' }];
  const entries = [...ids.map(entry), ...fields.map((field) => ({ ...entry('pi_1'), ...field }))];
  for (const one of entries) expect(checkListing([one], []).payments).toEqual([]);
});
