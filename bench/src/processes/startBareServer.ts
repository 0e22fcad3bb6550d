import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { gateway } from '../../../bin/programs.mjs';
import { ownChild } from './ownChild.ts';

/**
 * Starts the bare server on the gateway's HTTP stack, Node and flags.
 *
 * @param stack - stops it
 * @param constant - JSON text that every GET answers
 */
export async function startBareServer(
  stack: AsyncDisposableStack,
  constant: string,
): Promise<{ readonly port: number; readonly pid: number }> {
  const entry = fileURLToPath(new URL('../entry/bareServer.ts', import.meta.url));
  const child = fork(entry, [constant], {
    execArgv: [...gateway.nodeFlags],
    env: { PATH: process.env.PATH, ...gateway.env },
  });
  ownChild(stack, child);
  const [port] = await once(child, 'message');
  // A process that has answered has a pid.
  return { port: Number(port), pid: child.pid as number };
}
