import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What one act took. */
export interface Took {
  readonly wallMs: number;
  /** CPU time of all threads meanwhile. */
  readonly cpuMs: number;
}

/** A cold start, in a process that did nothing before. */
export interface ColdTimes {
  /** Until the module was ready, what it awaits included. */
  readonly import: Took;
  readonly firstCall: Took;
  /** The median of further calls. */
  readonly warmCall: Took;
}

/** What is timed: a module, and how it is called. */
export interface Timed {
  readonly file: string;
  /** Text of a function that is given the module and makes the function that makes one call. */
  readonly makeCall: string;
}

/** Calls that go before those whose median is taken, and those. */
const SETTLING = 10;
const COUNTED = 21;

const scriptOf = (makeCall: string) => `
const time = async (act) => {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const result = await act();
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  return { result, wallMs, cpuMs: (user + system) / 1000 };
};
const imported = await time(() => import(process.argv[1]));
const call = (${makeCall})(imported.result);
const firstCall = await time(call);
for (let i = 0; i < ${SETTLING}; i++) await call();
const warm = [];
for (let i = 0; i < ${COUNTED}; i++) warm.push(await time(call));
const medianOf = (key) => warm.map((took) => took[key]).sort((a, b) => a - b)[${Math.floor(COUNTED / 2)}];
const strip = ({ wallMs, cpuMs }) => ({ wallMs, cpuMs });
const warmCall = { wallMs: medianOf('wallMs'), cpuMs: medianOf('cpuMs') };
process.stderr.write(JSON.stringify({ import: strip(imported), firstCall: strip(firstCall), warmCall }));
process.exit();`;

/**
 * Times a cold start: the import of a module, its first call, and warm ones.
 *
 * @param env - all of its environment variables
 */
export async function timeCold({ file, makeCall }: Timed, env: Readonly<Record<string, string>>): Promise<ColdTimes> {
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', scriptOf(makeCall), file], { env });
  // The script writes nothing else there; the function's log goes to standard output.
  return JSON.parse(stderr) as ColdTimes;
}
