import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Deployment } from '@prism-gateway/contracts';
import { type Devnet, deployContracts, startDevnet } from '@prism-gateway/devnet';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { privateKeyToAddress } from 'viem/accounts';

/** The folder that examples and tutorials are run in. */
const ROOT = join(import.meta.dirname, '../../..');

/** A program under test. */
export interface RunningProgram {
  readonly output: readonly string[];
  /** Waits for a line. @throws Error with all output, when the program ends before */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the end. @returns the exit code */
  ended(): Promise<number | null>;
  /** Ends it as an operator would. @returns the exit code */
  stop(): Promise<number | null>;
}

/** A devnet with the contracts, and a gateway. */
export interface Stack {
  readonly devnet: Devnet;
  readonly deployment: Deployment;
  readonly gateway: RunningGateway;
  /** Runs a program of the project's own Node with settings for this stack. @param input - its standard input */
  run(args: readonly string[], input?: string): RunningProgram;
  /** Ends all programs, the gateway and the devnet. */
  stop(): Promise<void>;
}

/** Watches a child process. */
function watchProgram(child: ChildProcess): RunningProgram {
  const output: string[] = [];
  const news = new EventTarget();
  const closed = once(child, 'close');
  const read = (line: string) => {
    output.push(line);
    news.dispatchEvent(new Event('line'));
  };
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', read);
  // `close` tells the exit code, or null after a signal.
  const ended = async () => (await closed)[0] as number | null;
  return {
    output,
    ended,
    async waitFor(pattern) {
      for (let from = 0; ; ) {
        const found = output
          .slice(from)
          .map((line) => pattern.exec(line))
          .find((match) => match !== null);
        if (found) return found;
        from = output.length;
        const line = new Promise((resolve) => news.addEventListener('line', resolve, { once: true }));
        const isOver = await Promise.race([line.then(() => false), closed.then(() => true)]);
        if (isOver && output.length === from) throw new Error(`It ended before ${pattern}:\n${output.join('\n')}`);
      }
    },
    async stop() {
      child.kill('SIGTERM');
      return await ended();
    },
  };
}

/** Starts a devnet, deploys the contracts, and starts a gateway; account 1 is an official relayer. */
export async function startStack(): Promise<Stack> {
  const devnet = await startDevnet();
  const { rpcUrl } = devnet;
  // Ten accounts by default.
  const [privateKey, relayerKey] = [devnet.privateKeys[0]!, devnet.privateKeys[1]!];
  const officialRelayers = [privateKeyToAddress(relayerKey)];
  const [deployment, gateway, folder] = await Promise.all([
    deployContracts({ rpcUrl, privateKey, officialRelayers }),
    startGateway(),
    mkdtemp(join(tmpdir(), 'prism-sdk-')),
  ]);
  const file = join(folder, 'devnet.json');
  await writeFile(file, JSON.stringify({ rpcUrl, ...deployment }));
  const children: ChildProcess[] = [];
  return {
    devnet,
    deployment,
    gateway,
    run(args, input) {
      const env = { ...process.env, GATEWAY_URL: gateway.url, DEVNET_FILE: file, PORT: '0' };
      const child = spawn(process.execPath, [...args], { cwd: ROOT, env });
      child.stdin.end(input);
      children.push(child);
      return watchProgram(child);
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all([gateway.stop(), devnet.stop(), rm(folder, { recursive: true, force: true })]);
    },
  };
}
