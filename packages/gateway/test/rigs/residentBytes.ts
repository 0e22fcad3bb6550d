import { readFile } from 'node:fs/promises';

/** Reads how much memory a process holds, in bytes. @see https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
