import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What importing a module took, in a process that did nothing before. */
export interface ImportTime {
  /** Until the module was ready, what it awaits included. */
  readonly wallMs: number;
  /** CPU time of all threads meanwhile. */
  readonly cpuMs: number;
}

const script = `
const cpu = process.cpuUsage();
const startedAt = performance.now();
await import(process.argv[1]);
const wallMs = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 }));
process.exit();`;

/**
 * Times the import of a module in a fresh process.
 *
 * @param env - all of its environment variables
 */
export async function timeImport(file: string, env: Readonly<Record<string, string>>): Promise<ImportTime> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script, file], { env });
  // The script writes nothing else.
  return JSON.parse(stdout) as ImportTime;
}
