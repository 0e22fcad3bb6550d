import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { guardChild } from '@prism-gateway/node/guard-child';

/** Time a process gets to end by itself before it is killed. */
const GRACE_MS = 10_000;

/**
 * Has a child end with a stack, politely, or with this process, however that ends; its folder is removed with it.
 *
 * @param child - started a moment ago
 * @param options.signal - the polite signal, default SIGTERM
 */
export function ownChild(
  stack: AsyncDisposableStack,
  child: ChildProcess,
  { folder, signal = 'SIGTERM' }: { readonly folder?: string; readonly signal?: NodeJS.Signals } = {},
): void {
  const endGuard = guardChild(child, folder === undefined ? {} : { folder });
  stack.defer(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      const killer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      child.kill(signal);
      await gone;
      clearTimeout(killer);
    }
    endGuard();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
}
