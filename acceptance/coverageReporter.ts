import type { Reporter, TestModule } from 'vitest/node';
import { COVERAGE } from './coverage.ts';

/** The result of one case. */
interface Finding {
  passed: number;
  failed: number;
  /** Why tests of it were skipped. */
  readonly reasons: Set<string>;
}

const newFinding = (): Finding => ({ passed: 0, failed: 0, reasons: new Set() });

/** Gathers, by case, how its tests ended. */
function gather(modules: readonly TestModule[]): Map<string, Finding> {
  const findings = new Map<string, Finding>();
  for (const test of modules.flatMap((module) => [...module.children.allTests()])) {
    const result = test.result();
    for (const id of test.meta().covers ?? []) {
      const finding = findings.get(id) ?? newFinding();
      findings.set(id, finding);
      if (result.state === 'passed') finding.passed++;
      else if (result.state === 'failed') finding.failed++;
      else finding.reasons.add(result.state === 'skipped' ? (result.note ?? 'skipped') : 'not run');
    }
  }
  return findings;
}

type State = 'holds' | 'broken' | 'not covered' | 'elsewhere';

function stateOf(finding: Finding | undefined, elsewhere: string | undefined): State {
  if (elsewhere !== undefined) return 'elsewhere';
  if (finding !== undefined && finding.failed > 0) return 'broken';
  return finding !== undefined && finding.passed > 0 ? 'holds' : 'not covered';
}

function describeGaps(findings: ReadonlyMap<string, Finding>, whyNotRun: string): string[] {
  const byReason = new Map<string, string[]>();
  const broken: string[] = [];
  for (const { id, says, elsewhere } of Object.values(COVERAGE).flat()) {
    const finding = findings.get(id);
    const state = stateOf(finding, elsewhere);
    if (state === 'broken') broken.push(`    ${id}: ${says}`);
    if (state !== 'not covered') continue;
    const reason = [...(finding?.reasons ?? [whyNotRun])].join('; ');
    byReason.set(reason, [...(byReason.get(reason) ?? []), id]);
  }
  const lines = broken.length > 0 ? ['', '  Broken:', ...broken] : [];
  for (const [reason, ids] of byReason) lines.push('', `  Not covered (${reason}):`, `    ${ids.join(', ')}`);
  return lines;
}

/**
 * Writes, by area of the contract, how many of its cases a run saw hold, and what it did not cover and why.
 *
 * @param run.modules - its test files
 * @param run.whyNotRun - what to say of a case of which no test ran
 */
export function writeCoverageTable(run: {
  readonly modules: readonly TestModule[];
  readonly whyNotRun: string;
}): string {
  const findings = gather(run.modules);
  const columns: readonly State[] = ['holds', 'broken', 'not covered', 'elsewhere'];
  const lines = [['Contract', 'cases', ...columns]];
  const totals = new Map<State, number>();
  for (const [area, rules] of Object.entries(COVERAGE)) {
    const states = rules.map(({ id, elsewhere }) => stateOf(findings.get(id), elsewhere));
    const counts = columns.map((column) => states.filter((state) => state === column).length);
    for (const [place, column] of columns.entries())
      totals.set(column, (totals.get(column) ?? 0) + (counts[place] ?? 0));
    lines.push([area, String(rules.length), ...counts.map(String)]);
  }
  const rules = Object.values(COVERAGE).flat().length;
  lines.push(['all', String(rules), ...columns.map((column) => String(totals.get(column) ?? 0))]);
  const rows = lines.map(
    ([area = '', ...cells]) => `  ${area.padEnd(24)}${cells.map((cell) => cell.padStart(13)).join('')}`,
  );
  return ['', ...rows, ...describeGaps(findings, run.whyNotRun), ''].join('\n');
}

/** Makes the reporter that prints the table when a run has ended. */
export function createCoverageReporter(options: {
  readonly whyNotRun: string;
  readonly print: (text: string) => void;
}): Reporter {
  const { whyNotRun, print } = options;
  return { onTestRunEnd: (modules) => print(writeCoverageTable({ modules, whyNotRun })) };
}
