import { readFile } from 'node:fs/promises';

/** Resources that a process has used so far. */
export interface ProcessUsage {
  /** Resident size now, in MB (10^6 bytes). */
  readonly residentMb: number;
  /** Largest resident size so far, in MB (10^6 bytes). */
  readonly peakMb: number;
  /** CPU time, user and system, in seconds. */
  readonly cpuSeconds: number;
}

/** Clock ticks a second in /proc: fixed at 100 for user space on every Linux that Node runs on. */
const ticksPerSecond = 100;

/**
 * Reads a process's memory and CPU time from `/proc`.
 *
 * @param pid process id
 * @returns the usage, or undefined if there is no `/proc` or no such process
 * @see proc_pid_status(5), proc_pid_stat(5)
 */
export async function readUsage(pid: number): Promise<ProcessUsage | undefined> {
  try {
    const [status, stat] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The command's name may hold spaces; the numbered fields begin after its closing parenthesis with field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      residentMb: readMb(status, 'VmRSS'),
      peakMb: readMb(status, 'VmHWM'),
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    };
  } catch {
    return undefined;
  }
}

function readMb(status: string, field: string): number {
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return (Number(kib) * 1024) / 1e6;
}
