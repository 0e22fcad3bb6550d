import { execFile } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';
import { formatTable } from './formatTable.ts';
import { type ResultRow, type RowSummary, summariseRow, type Target } from './summariseRow.ts';

/** The figures of a section. */
export interface Report {
  /** How it was measured, a line each. */
  readonly about: readonly string[];
  readonly rows: readonly ResultRow[];
}

const HEAD = ['Measure', 'Median', 'Min – max', 'Baseline', 'Ratio', 'Target', ''];

/**
 * Prints what a section has measured, with what it depends on.
 *
 * @returns whether all targets are met; true if nothing is checked
 */
export async function printReport({ about, rows }: Report, { quick }: { readonly quick: boolean }): Promise<boolean> {
  const summaries = rows.map(summariseRow);
  const [processor] = cpus();
  const lines = [
    `${new Date().toISOString()}, commit ${await readCommit()}, Node ${process.version}`,
    `${processor?.model.trim()}, ${cpus().length} cores, ${(totalmem() / 1e9).toFixed(0)} GB, ${type()} ${release()}`,
    ...about,
    ...(quick ? ['--quick: nothing is checked, and no figure is to be published'] : []),
  ];
  const notes = rows.flatMap(({ title, notes = [] }) => notes.map((note) => `${title}: ${note}`));
  const table = formatTable([HEAD, ...summaries.map((row) => toCells(row, quick))]);
  console.log([...lines, '', ...table, '', ...notes, ''].join('\n'));
  return quick || summaries.every(({ met }) => met !== false);
}

async function readCommit(): Promise<string> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', args, { cwd: import.meta.dirname })).stdout.trim();
  try {
    const changes = await git('status', '--porcelain', '--untracked-files=no');
    return `${await git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : ' with local changes'}`;
  } catch {
    return 'unknown';
  }
}

function toCells(row: RowSummary, quick: boolean): string[] {
  const verdict = row.met ? 'met' : 'MISSED';
  return [
    `${row.title}, ${row.unit}`,
    formatFigure(row.median),
    row.values.length === 1 ? 'one run' : `${formatFigure(row.min)} – ${formatFigure(row.max)}`,
    row.baselineMedian === undefined ? '' : `${formatFigure(row.baselineMedian)} ${row.baseline?.title}`,
    row.ratio === undefined ? '' : row.ratio.toFixed(2),
    row.target === undefined ? '' : formatTarget(row.target),
    row.met === undefined || quick ? '' : verdict,
  ];
}

/** Writes a figure with as many digits as say something: `12,345`, `123`, `12.3` or `0.62`. */
function formatFigure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
}

function formatTarget({ of, is, bound }: Target): string {
  return `${is === 'at least' ? '≥' : '≤'} ${bound}${of === 'ratio' ? ' ×' : ''}`;
}
