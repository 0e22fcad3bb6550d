/**
 * Prints which lines and branches of the contracts were executed: `node packages/contracts/scripts/reportCoverage.ts COMPILED TRACES`. COMPILED is
 * what compileForTracing.ts printed, TRACES the folder of the recorder's files. Exits 1 below 98 % of either.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countCoverage, type FileCoverage, type Run } from './coverage/countCoverage.ts';
import { mapCode } from './coverage/mapCode.ts';
import { type Items, readItems } from './coverage/readItems.ts';

const LEAST_PERCENT = 98;

interface Code {
  readonly object: string;
  readonly sourceMap: string;
}

interface Compiled {
  readonly sources: Readonly<Record<string, { readonly id: number; readonly ast: unknown }>>;
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly evm: { readonly bytecode: Code; readonly deployedBytecode: Code } }>>
    >
  >;
}

interface Trace {
  readonly code: string;
  readonly pcs: readonly number[];
  readonly jumps: readonly (readonly [number, number])[];
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as unknown;

/** Whether a chain's code is a compiled one: the same but for immutables, which are zeros in what is compiled. */
function isDeployed(compiled: Buffer, code: Buffer): boolean {
  return compiled.length === code.length && compiled.every((byte, index) => byte === code[index] || byte === 0);
}

/** One run a code: what all traces have executed of it. */
function gatherRuns({ sources, contracts }: Compiled, traces: readonly Trace[]): readonly Run[] {
  const files = new Map(Object.entries(sources).map(([path, { id }]) => [id, path]));
  const parsed = traces.map((trace) => ({ ...trace, bytes: Buffer.from(trace.code.slice(2), 'hex') }));
  return Object.values(contracts).flatMap((byName) =>
    Object.values(byName).flatMap(({ evm: { bytecode, deployedBytecode } }) => {
      if (bytecode.object === '') return [];
      const deployed = Buffer.from(deployedBytecode.object, 'hex');
      const created = parsed.filter(({ code }) => code.startsWith(`0x${bytecode.object}`));
      const called = parsed.filter(({ bytes }) => isDeployed(deployed, bytes));
      return [joinTraces({ code: bytecode, files }, created), joinTraces({ code: deployedBytecode, files }, called)];
    }),
  );
}

function joinTraces(
  { code, files }: { readonly code: Code; readonly files: ReadonlyMap<number, string> },
  traces: readonly Trace[],
): Run {
  const outcomes = new Map<number, number>();
  for (const [pc, ways] of traces.flatMap(({ jumps }) => jumps)) outcomes.set(pc, (outcomes.get(pc) ?? 0) | ways);
  return { ...mapCode(code.object, code.sourceMap, files), pcs: new Set(traces.flatMap(({ pcs }) => pcs)), outcomes };
}

const percentOf = ({ hit, total }: { hit: number; total: number }) => (total === 0 ? 100 : (100 * hit) / total);

function describe({ file, lines, branches }: FileCoverage): string {
  const part = (name: string, { hit, total, missed }: FileCoverage['lines']) =>
    `${name} ${`${hit}/${total}`.padStart(8)} ${percentOf({ hit, total }).toFixed(1).padStart(6)} %${missed.length > 0 ? `, not all of line ${[...new Set(missed)].join(', ')}` : ''}`;
  return `${file.padEnd(32)} ${part('lines', lines)}   ${part('branches', branches)}`;
}

function sum(files: readonly FileCoverage[], what: 'lines' | 'branches'): FileCoverage['lines'] {
  const add = (key: 'hit' | 'total') => files.reduce((total, file) => total + file[what][key], 0);
  return { hit: add('hit'), total: add('total'), missed: [] };
}

function main(compiledFile: string, tracesFolder: string): number {
  // Both files are ours.
  const compiled = read(compiledFile) as Compiled;
  const traces = readdirSync(tracesFolder).flatMap((name) => read(join(tracesFolder, name)) as readonly Trace[]);
  const runs = gatherRuns(compiled, traces);
  const files = Object.entries(compiled.sources)
    .filter(([path]) => !path.startsWith('@'))
    .map(([file, { ast }]) => {
      const items: Items = readItems(file, ast);
      return countCoverage({ file, items, text: readFileSync(new URL(`../solidity/${file}`, import.meta.url)) }, runs);
    })
    .filter(({ lines }) => lines.total > 0)
    .toSorted((a, b) => a.file.localeCompare(b.file));
  const all = { file: 'all', lines: sum(files, 'lines'), branches: sum(files, 'branches') };
  for (const each of [...files, all]) console.log(describe(each));
  return Math.min(percentOf(all.lines), percentOf(all.branches)) < LEAST_PERCENT ? 1 : 0;
}

process.exitCode = main(process.argv[2] ?? '', process.argv[3] ?? '');
