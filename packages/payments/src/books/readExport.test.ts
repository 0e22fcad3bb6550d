import { expect, test } from 'vitest';
import { ExportError, readExport } from './readExport.ts';

const read = (text: string) =>
  readExport(Buffer.from(text)).map(({ line, paymentIntentId, amount }) => [line, paymentIntentId, amount]);

test('marks, line ends, separators, quotes and names of columns, as programs write them', () => {
  for (const text of [
    'id,amount\npi_1,1400',
    '\uFEFFid,amount\r\npi_1,1400.00\r\n',
    'id;amount\npi_1;1400.00',
    'id\tamount\npi_1\t1400.0',
    '"PaymentIntent ID","Amount"\n"pi_1","1,400.00"',
    'Amount;Fee;payment_intent\n 1400.00 ;1.20; pi_1\n;;\n\n',
    'description;id;amount\n"a ""b""; c, d";pi_1;"1400.000000"',
  ])
    expect(read(text), text).toEqual([[2, 'pi_1', 1_400_000_000n]]);
  expect(read('id,note,amount\npi_1,"on\r\ntwo lines",2.00\npi_2,,3.5')).toEqual([
    [2, 'pi_1', 2_000_000n],
    [4, 'pi_2', 3_500_000n],
  ]);
  const amounts = ['1.400,00', '7,50', '-5.00', '7.00 EUR', '7.0000001', '', '1,40,000'];
  const rows = amounts.map((amount) => `pi_1;${amount}`).join('\n');
  expect(read(`id;amount\n${rows}`).map(([, , amount]) => amount)).toEqual(amounts.map(() => undefined));
});

test('what cannot be compared is refused, with what is wrong and on which line', () => {
  for (const [bytes, said] of [
    ['', 'The export has no rows.'],
    ['id,amount\n', 'The export has no rows.'],
    ['name,amount\nA,1.00', 'The export has no column paymentintentid or paymentintent or id.'],
    ['id,currency\npi_1,EUR', 'The export has no column amount or stablecoinamount or gross.'],
    ['id,amount,Amount\npi_1,1.00,2.00', 'The export has the column amount twice.'],
    ['id,amount\npi_1,1.00\npi_2', 'Line 3 has 1 cells, and the head has 2.'],
    ['id,amount\npi_1,1,400.00', 'Line 2 has 3 cells, and the head has 2.'],
    ['id,amount\n"pi_1,1.00\npi_2,1.00', 'Line 2 has a quote mark'],
    ['id,amount\n"pi"_1,1.00', 'Line 2 has a quote mark'],
    ['id,amount\npi"_1",1.00', 'Line 2 has a quote mark'],
    [Buffer.from('\uFEFFid,amount\npi_1,1.00', 'utf16le'), 'not written in UTF-8'],
    [Buffer.from('id,amount,name\npi_1,1.00,J\u00f6rg', 'latin1'), 'not written in UTF-8'],
  ] as const) {
    const act = () => readExport(Buffer.from(bytes));
    expect(act, `${bytes}`).toThrow(ExportError);
    expect(act, `${bytes}`).toThrow(said);
  }
});
