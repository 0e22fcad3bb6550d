import { parseUnits } from 'viem';
import { ExportError } from './ExportError.ts';

/** An amount as it stands in a file. */
export interface AmountCell {
  readonly line: number;
  readonly text: string;
}

/** What stands before the cents: `1,400.00` or `1.400,00`. */
type DecimalMark = '.' | ',';

const DECIMALS = 6;
const FORMS: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/,
  ',': /^(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?$/,
};

/** Without what groups digits in some countries, and is never a decimal mark. */
const clean = (text: string) => text.replaceAll(/(?<=\d)['’\u00a0\u202f ](?=\d{3}(?!\d))/g, '');

/** Which marks an amount can have been written with, to mean a number. */
function findMarks(text: string): readonly DecimalMark[] {
  // No group of thousands begins with a zero.
  const isSmall = /^0[.,]/.test(text);
  const marks = (['.', ','] as const).filter((mark) => FORMS[mark].test(text));
  return isSmall ? marks.filter((mark) => text[1] === mark) : marks;
}

function parseAmount(text: string, mark: DecimalMark): bigint | undefined {
  const [whole = '', fraction = ''] = text.split(mark);
  const exact = fraction.replace(/0+$/, '');
  if (exact.length > DECIMALS) return undefined;
  return parseUnits(`${whole.replaceAll(/[.,]/g, '')}.${exact.padEnd(1, '0')}`, DECIMALS);
}

/**
 * Reads the amounts of a file, which are all written alike. `1,400` may be a thousand and more or a little more than one: what the other
 * amounts of the file show decides, and if none does, nothing is guessed.
 *
 * @param cells - amounts of one column
 * @returns stablecoin base units (6 decimals), in the order of the cells; undefined for what is no such amount
 * @throws ExportError `EXPORT_UNREADABLE` that names the lines, where it cannot be known what an amount means
 */
export function parseAmounts(cells: readonly AmountCell[]): readonly (bigint | undefined)[] {
  const cleaned = cells.map(({ line, text }) => ({ line, text: clean(text), marks: findMarks(clean(text)) }));
  const witness = (mark: DecimalMark) => cleaned.find(({ marks }) => marks.length === 1 && marks[0] === mark);
  const [point, comma] = [witness('.'), witness(',')];
  if (point !== undefined && comma !== undefined)
    throw new ExportError(
      `Amounts are written in two ways: ${point.text} on line ${point.line}, and ${comma.text} on line ${comma.line}.`,
    );
  const unclear = cleaned.find(({ text, marks }) => marks.length === 2 && /[.,]/.test(text));
  if (unclear !== undefined && point === undefined && comma === undefined)
    throw new ExportError(
      `It is not clear what ${unclear.text} on line ${unclear.line} means: write amounts with two decimals, like 1400.00.`,
    );
  const mark = comma === undefined ? '.' : ',';
  return cleaned.map(({ text, marks }) => (marks.includes(mark) ? parseAmount(text, mark) : undefined));
}
