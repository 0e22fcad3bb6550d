/** `npm test -- --commands`: every command that README and documents name is run as written, quickly. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PaymentsRig } from '@prism-gateway/payments/demo';
import { afterAll, describe, expect, test } from 'vitest';
import { programs } from '../../bin/programs.mjs';
import { findCommands, findTools, listCommands } from './listCommands.ts';
import { ELSEWHERE, independentRows, type Row, rows, type World } from './rows.ts';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** A bound for hangs on a loaded machine, in milliseconds. */
const TIMEOUT_MS = 1_200_000;

interface Running {
  output(): string;
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Exit status, once all that it started has ended. */
  readonly ended: Promise<number | null>;
  /** Asks it to stop, as an operator would. @returns the exit status */
  stop(): Promise<number | null>;
}

/** Starts a command as a reader of the documents would. */
function start(line: string, env: Readonly<Record<string, string>>): Running {
  const [name = '', ...args] = line.split(' ');
  // What npx runs, without the second that it takes itself.
  const words = scripts[name] === undefined ? ['node', 'bin/prism.mjs', name] : ['npm', 'run', '--silent', name, '--'];
  const [command = '', ...before] = words;
  const child: ChildProcess = spawn(command, [...before, ...args], {
    ...{ cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  let output = '';
  const seen = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      seen.dispatchEvent(new Event('data'));
    });
  }
  const ended = once(child, 'close').then(([status]) => status as number | null);
  return {
    output: () => output,
    ended,
    async waitFor(pattern) {
      const found = Promise.withResolvers<RegExpMatchArray>();
      const look = () => {
        const match = output.match(pattern);
        if (match !== null) found.resolve(match);
      };
      seen.addEventListener('data', look);
      look();
      const early = ended.then((status) => {
        throw new Error(`\`${line}\` ended with ${status} before it printed ${pattern}:\n${output.slice(-2000)}`);
      });
      return await Promise.race([found.promise, early]);
    },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

describe('what documents name', () => {
  test.each([
    ['PORT=1 npm start -- --help and `npm test`', ['start', 'test']],
    ['npm run payments -- release <intent>', ['payments release']],
    ['TOKEN=$(npx prism token alice)', ['token alice']],
    ['`npx prism gas-monitor`, node bin/prism.mjs check:size', ['gas-monitor', 'check:size']],
    ['npm install; `npx prism --help`, npx prism backup /x', ['backup']],
  ])('commands: %s', (text, commands) => {
    expect(findCommands(text)).toEqual(commands);
  });

  test('tools', () => {
    const block =
      '```sh\nA=1 podman run \\\n  image; (cd x && promtool a | tee log) # kubectl\nnpm start\n```\n`useradd`';
    expect(findTools(block)).toEqual(['podman', 'promtool', 'tee']);
  });

  test('is run here or elsewhere, and so is every program', () => {
    const known = (command: string) =>
      [...rows, ...independentRows].some(({ line }) => `${line} `.startsWith(`${command} `)) ||
      (command.split(' ')[0] ?? '') in ELSEWHERE;
    const named = [...listCommands(root), ...Object.keys(programs).map((name) => [name, 'bin/programs.mjs'] as const)];
    expect(named.filter(([command]) => !known(command))).toEqual([]);
  });
});

describe('the commands', () => {
  const stack = new AsyncDisposableStack();
  const kept: Running[] = [];
  let rig: Promise<PaymentsRig> | undefined;
  const world: World = {
    dir: mkdtempSync(join(tmpdir(), 'prism-commands-')),
    url: '',
    payments() {
      rig ??= import('@prism-gateway/payments/demo').then(async ({ startPaymentsRig }) =>
        stack.use(await startPaymentsRig({ blockTimeMs: 200, heartbeatMs: 600_000 })),
      );
      return rig;
    },
  };

  async function run({ line, env, prints, status = 0, ready, keep }: Row): Promise<void> {
    const words = line.replaceAll('{dir}', world.dir).replaceAll('{url}', world.url);
    const running = start(words, (await env?.(world)) ?? {});
    if (ready === undefined) {
      expect(await running.ended, running.output().slice(-2000)).toBe(status);
      expect(running.output()).toMatch(prints ?? /(?:)/);
      return;
    }
    const { groups } = await running.waitFor(ready);
    world.url = groups?.url ?? world.url;
    if (keep) expect(kept.push(running)).toBeGreaterThan(0);
    else expect(await running.stop()).toBe(0);
  }

  afterAll(async () => {
    const statuses: (number | null)[] = [];
    for (const running of kept.reverse()) statuses.push(await running.stop());
    await stack.disposeAsync();
    expect(statuses).toEqual(kept.map(() => 0));
  });

  test.each(rows)('$line', { timeout: TIMEOUT_MS }, run);
  test.concurrent.each(independentRows)('$line', { timeout: TIMEOUT_MS }, run);
});

test('npx finds them in a clone', async () => {
  const child = spawn('npx', ['prism', '--help'], { cwd: root, stdio: 'ignore' });
  expect(await once(child, 'close')).toEqual([0, null]);
});
