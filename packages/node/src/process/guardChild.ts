import { type ChildProcess, spawn } from 'node:child_process';

/** Waits until its input closes, in a group of its own: Ctrl-C in a terminal goes to all of the group of this one. */
const SCRIPT = 'read -r _; kill -9 "$1"; [ -z "$2" ] || rm -rf -- "$2"';

/**
 * Has a child end with this process, however that ends, even by SIGKILL: a small process waits beside it, whose input closes then.
 *
 * @param child - started a moment ago; nothing is guarded if it could not be started
 * @param options.folder - what it has on the disk, and what goes with it; default nothing
 * @returns ends the guard. To be called once the child has ended: else it would one day end a process that has got the same id since
 */
export function guardChild({ pid }: ChildProcess, { folder = '' }: { readonly folder?: string } = {}): () => void {
  if (pid === undefined) return () => undefined;
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'sh', `${pid}`, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  return () => void guard.kill('SIGKILL');
}
