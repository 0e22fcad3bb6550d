import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PRISM = fileURLToPath(new URL('../../bin/prism.mjs', import.meta.url));

/** What runs beside tests. */
export interface Neighbours extends AsyncDisposable {
  readonly names: readonly string[];
}

/** It ends by itself when whoever started it has been killed. */
function startBusyLoop(): ChildProcess {
  return spawn(process.execPath, ['--eval', 'const { ppid } = process; while (process.ppid === ppid);'], {
    stdio: 'ignore',
  });
}

/** A devnet, a gateway and two relayers, which stay when the demo has been played. @throws Error with its output if it ends */
async function startDemo(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PRISM, 'demo', '--users', '2', '--requests', '24', '--keep'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const isUp = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (line.startsWith('Left running')) isUp.resolve();
  });
  child.once('close', (code) => isUp.reject(new Error(`The demo ended with ${code}:\n${lines.join('\n')}`)));
  await isUp.promise;
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}

/**
 * Starts what tests must not mind: a gateway, a devnet and relayers of this project, and busy loops.
 *
 * @param params.loops - how many keep a core busy each
 * @returns their names; disposed of, all have ended
 */
export async function startNeighbours({ loops }: { readonly loops: number }): Promise<Neighbours> {
  const demo = await startDemo();
  const busy = Array.from({ length: loops }, startBusyLoop);
  return {
    names: ['a gateway', 'a devnet', 'two relayers', `${loops} busy loops`],
    async [Symbol.asyncDispose]() {
      await Promise.all([end(demo, 'SIGINT'), ...busy.map((child) => end(child, 'SIGKILL'))]);
    },
  };
}
