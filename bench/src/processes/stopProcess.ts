import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Time a process gets to end by itself before it is killed. */
const graceMs = 10_000;

/**
 * Ends one child process by its pid, politely first, and waits until it is gone.
 *
 * @param child the process; one that has ended already is no error
 * @param signal the polite signal
 */
export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  child.kill(signal);
  await gone;
  clearTimeout(killer);
}
