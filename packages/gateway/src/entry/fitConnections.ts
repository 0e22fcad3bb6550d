import { readFileSync } from 'node:fs';
import type { ConnectionLimits } from './boundConnections.ts';

/** Files that a process opens beside its connections: the database, objects, calls to others, Node's own. */
const OTHER_FILES = 128;

/** The line of Linux's limits of a process: soft and hard limit after the name. */
const OPEN_FILES = /^Max open files\s+(?:\d+|unlimited)\s+(\d+)/m;

/**
 * Reads how many files this process may open: the hard limit, since Node raises the soft one to it when it starts.
 *
 * @returns Infinity if there is no limit, or none can be read
 * @see https://man7.org/linux/man-pages/man5/proc_pid_limits.5.html
 */
export function readFileLimit(): number {
  try {
    return Number(OPEN_FILES.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity; // no Linux
  }
}

/** Limits that the process can keep, and what to log for the operator if they are not those of the settings. */
export interface FittedConnections {
  readonly limits: ConnectionLimits;
  readonly warning?: string;
}

/**
 * Makes room for other files: beyond its limit a process accepts nobody, so that whoever holds connections open would shut all others out.
 *
 * @param wanted - as the settings say
 * @param mostFiles - see `readFileLimit`
 * @see docs/specification.md LIMIT-15
 */
export function fitConnections(wanted: ConnectionLimits, mostFiles: number): FittedConnections {
  const most = Math.max(mostFiles - OTHER_FILES, Math.floor(mostFiles / 2));
  if (wanted.total > 0 ? wanted.total <= most : most === Infinity) return { limits: wanted };
  const warning = `This process may open ${mostFiles} files: at most ${most} connections are kept instead of MAX_CONNECTIONS=${wanted.total}. Raise the limit: ulimit -n, LimitNOFILE= of systemd, or --ulimit nofile= of a container.`;
  return { limits: { ...wanted, total: most }, ...(wanted.total > 0 && { warning }) };
}
