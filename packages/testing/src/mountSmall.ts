import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, which can be full. */
export interface SmallDisk {
  readonly dir: string;
  /** Takes up all that is free. */
  fill(): void;
  /** Gives that back. */
  free(): void;
  close(): void;
}

const CHUNKS = [65_536, 4096, 64];

/**
 * Mounts a file system.
 *
 * @param size - as mount(8) takes it
 * @returns undefined if this user may mount none
 */
export function mountSmall(size = '3m'): SmallDisk | undefined {
  if (process.platform !== 'linux') return undefined;
  const dir = mkdtempSync(join(tmpdir(), 'prism-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir], { stdio: 'ignore' });
  } catch {
    rmSync(dir, { recursive: true });
    return undefined;
  }
  const filler = join(dir, 'filler');
  return {
    dir,
    fill() {
      for (const size of CHUNKS) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size));
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
        }
      }
    },
    free: () => rmSync(filler, { force: true }),
    close() {
      // Whoever was killed a moment ago may hold a file still: it goes once they are gone.
      execFileSync('umount', ['--lazy', dir]);
      rmSync(dir, { recursive: true });
    },
  };
}
