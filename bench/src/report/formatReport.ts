import type { Target } from '../measures/measureResult.ts';
import type { Configuration } from './collectConfiguration.ts';
import { formatFigure } from './formatFigure.ts';
import { formatTable } from './formatTable.ts';
import type { RowSummary } from './summariseRow.ts';

const head = ['Measure', 'Median', 'Min – max', 'Baseline', 'Ratio', 'Target', ''];

/**
 * Writes configuration, table and notes for a person to read.
 *
 * @param configuration what it was measured on
 * @param rows what was measured
 * @returns text
 */
export function formatReport(configuration: Configuration, rows: readonly RowSummary[]): string {
  const settings = Object.entries(configuration).map(([name, value]) => `${name}: ${value}`);
  const notes = rows.flatMap((row) => [`${row.title}:`, ...(row.notes ?? []).map((note) => `  ${note}`)]);
  const table = formatTable([head, ...rows.map(toCells)]);
  return [...settings, '', ...table, '', ...notes, ''].join('\n');
}

function toCells(row: RowSummary): string[] {
  return [
    `${row.title}, ${row.unit}`,
    formatFigure(row.median),
    row.values.length === 1 ? 'one run' : `${formatFigure(row.min)} – ${formatFigure(row.max)}`,
    row.baselineMedian === undefined || row.baseline === undefined
      ? ''
      : `${formatFigure(row.baselineMedian)} ${row.baseline.title}`,
    row.ratio === undefined ? '' : row.ratio.toFixed(2),
    row.target === undefined ? '' : formatTarget(row.target),
    row.met === undefined ? '' : row.met ? 'met' : 'MISSED',
  ];
}

function formatTarget(target: Target): string {
  return `${target.is === 'at least' ? '≥' : '≤'} ${target.bound}${target.of === 'ratio' ? ' ×' : ''}`;
}
