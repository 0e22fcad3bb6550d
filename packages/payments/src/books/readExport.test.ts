import { expect, test } from 'vitest';
import { ExportError } from './readCsv.ts';
import { readExport } from './readExport.ts';

const read = (text: string) =>
  readExport(Buffer.from(text)).map(({ line, paymentIntentId, amount }) => [line, paymentIntentId, amount]);

/** The sentence by which an export is refused. */
function refusalOf(bytes: string | Uint8Array): string {
  try {
    return `read: ${readExport(Buffer.from(bytes)).length}`;
  } catch (error) {
    if (error instanceof ExportError) return error.message;
    throw error;
  }
}

const ONE = [[2, 'pi_1', 1_400_000_000n]];

test('marks, line ends, separators, quotes and names of columns, as programs write them', () => {
  for (const text of [
    'id,amount\npi_1,1400',
    '\uFEFFid,amount\r\npi_1,1400.00\r\n',
    'id,amount\rpi_1,1400.00\r',
    'id;amount\npi_1;1.400,00',
    'id\tamount\npi_1\t1400,00',
    '"PaymentIntent ID","Amount"\n"pi_1","1,400.00"',
    'Payment Intent Id , Gross\n pi_1 , "1 400.00"',
    "Amount;Fee;payment_intent\n1'400.00;1.20;pi_1",
    'id,amount,,\npi_1,1400.00,,\n,,,\n\n',
    'description;id;amount\n"a ""b""; c, d";pi_1;"1400,000000"',
  ])
    expect(read(text), text).toEqual(ONE);
  expect(read('sep=;\nid;note;amount\npi_1;"on\r\ntwo lines";2,00\npi_2;;3,5')).toEqual([
    [3, 'pi_1', 2_000_000n],
    [5, 'pi_2', 3_500_000n],
  ]);
});

test('what an amount means is known by the others of the file, and is not guessed', () => {
  const amountsOf = (...amounts: readonly string[]) =>
    read(`id;amount\n${amounts.map((amount, place) => `pi_${place};${amount}`).join('\n')}`).map(
      ([, , amount]) => amount,
    );
  expect(amountsOf('1.400', '7,50')).toEqual([1_400_000_000n, 7_500_000n]);
  expect(amountsOf('1,400', '7.50')).toEqual([1_400_000_000n, 7_500_000n]);
  expect(amountsOf('1.400', '1,400.00')).toEqual([1_400_000n, 1_400_000_000n]);
  expect(amountsOf('1.400.000', '0,125')).toEqual([1_400_000_000_000n, 125_000n]);
  expect(amountsOf('7', '-5,00', '7,00 EUR', '7.0000001', '', '1,40,000')).toEqual([
    7_000_000n,
    ...[undefined, undefined, undefined, undefined, undefined],
  ]);
});

test('what cannot be compared is refused, with what is wrong and on which line', () => {
  for (const [bytes, said] of [
    ['', 'The export has no rows.'],
    ['id,amount\n', 'The export has no rows.'],
    ['name,amount\nA,1.00', 'The export has no column of payment intents: paymentintentid, paymentintent, id.'],
    ['id,currency\npi_1,EUR', 'The export has no column of amounts: amount, stablecoinamount, gross.'],
    ['id,amount,Amount\npi_1,1.00,2.00', 'The export has the column amount twice.'],
    ['id,amount\npi_1,1.00\npi_2', 'Line 3 has 1 cells, and the head has 2.'],
    ['id,amount\npi_1,1,400.00', 'Line 2 has 3 cells, and the head has 2.'],
    ['id,amount\n"pi_1,1.00\npi_2,1.00', 'The quote mark on line 2 is never closed.'],
    ['id,amount\n"pi"_1,1.00', 'Line 2 has text behind a closing quote mark.'],
    ['id,amount\npi"_1",1.00', 'Line 2 has a quote mark within a cell that is not quoted.'],
    ['id;amount\npi_1;1,50\npi_2;1.50', 'Amounts are written in two ways: 1.50 on line 3, and 1,50 on line 2.'],
    [
      'id;amount\npi_1;7\npi_2;1.400',
      'It is not clear what 1.400 on line 3 means: write amounts with two decimals, like 1400.00.',
    ],
    [Buffer.from('id,amount\npi_1,1.00', 'utf16le'), 'not written in UTF-8'],
    [Buffer.from('\uFEFFid,amount\npi_1,1.00', 'utf16le'), 'not written in UTF-8'],
    [Buffer.from('id,amount,name\npi_1,1.00,J\u00f6rg', 'latin1'), 'not written in UTF-8'],
  ] as const)
    expect(refusalOf(bytes), `${bytes}`).toContain(said);
});
