import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installClock, type VirtualClock } from './clock.ts';
import { installCurve } from './curve.ts';
import { cutPower, type Disks, installDisks, installFiles } from './disks.ts';
import { createEventLog, type EventLog, type WorldEvent } from './eventLog.ts';
import { installHttp } from './http.ts';
import { installPorts } from './inlineThread.ts';
import { createNetwork, type Network } from './network.ts';
import { createProcess, type MachineClock, runAs, type SimProcess } from './processes.ts';
import { createRandom, type Random } from './random.ts';
import { installRandomness } from './randomness.ts';

/** Everything that programs meet outside themselves, simulated: clock, timers, random numbers, network and disks. */
export interface Realm {
  readonly clock: VirtualClock;
  readonly network: Network;
  readonly random: Random;
  readonly log: EventLog;
  readonly disks: Disks;
  /** A machine's clock, which the programs on it read. */
  clockOf(host: string): MachineClock;
  /** A machine's folder. */
  diskOf(host: string): string;
  /** Starts a process and waits until it is up. @throws what its start throws */
  start<T>(
    name: string,
    host: string,
    main: (process: SimProcess) => Promise<T>,
  ): Promise<{ process: SimProcess; value: T }>;
  /** Ends a process as `kill -9` or a power cut would. */
  kill(process: SimProcess): void;
  /** Stops a process for a while, as SIGSTOP or a busy machine would. @returns has it run on, with all that came meanwhile */
  pause(process: SimProcess): () => void;
  /** Gives the machine its clock, network and files back, and removes the disks. */
  [Symbol.dispose](): void;
}

/** Files in memory, if the system has them: what a power cut would do to them is simulated. */
const MEMORY = '/dev/shm';
/** When worlds begin: 2026-01-01T00:00:00Z, in milliseconds. */
const START_MS = 1_767_225_600_000;

/**
 * Makes the realm of one world. There can be one at a time, for it takes the place of the built-in modules.
 *
 * @param options.seed - all that is left to chance follows from it
 * @param options.onEvent - sees each event as it comes
 */
export function createRealm(options: { readonly seed: string; readonly onEvent?: (event: WorldEvent) => void }): Realm {
  const random = createRandom(options.seed);
  const root = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'prism-simulation-'));
  const clock = installClock(START_MS);
  const log = createEventLog(clock.now, options.onEvent);
  const network = createNetwork({ random: random.fork('network'), log, after: clock.at });
  const disks: Disks = new Map();
  const clocks = new Map<string, MachineClock>();
  const starts = new Map<string, number>();

  function kill(process: SimProcess): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    for (const close of process.closers) close();
    cutPower(process);
    log.add({ kind: 'process', who: process.name, text: 'killed' });
    process.onDeath();
  }

  const putBack = [
    installRandomness(random.fork('world')),
    installHttp(network),
    installDisks(disks, kill),
    installFiles(clock.track),
    installPorts(),
    installCurve(),
  ];
  syncBuiltinESMExports();

  function diskOf(host: string): string {
    const directory = join(root, host);
    mkdirSync(directory, { recursive: true });
    return directory;
  }

  function clockOf(host: string): MachineClock {
    const own = clocks.get(host) ?? { offMs: 0 };
    clocks.set(host, own);
    return own;
  }

  return {
    clock,
    network,
    random,
    log,
    disks,
    clockOf,
    diskOf,
    kill,
    pause(process) {
      const waiting: (() => void)[] = [];
      process.paused = waiting;
      return () => {
        process.paused = undefined;
        for (const work of waiting) work();
      };
    },
    async start(name, host, main) {
      const count = (starts.get(name) ?? 0) + 1;
      starts.set(name, count);
      const fullName = count === 1 ? name : `${name}#${count}`;
      const process = createProcess(fullName, { host, clock: clockOf(host), random: random.fork(fullName) });
      log.add({ kind: 'process', who: fullName, text: 'starts' });
      try {
        const value = await runAs(process, () => main(process));
        return { process, value };
      } catch (error) {
        // Its databases and locks go with it.
        kill(process);
        throw error;
      }
    },
    [Symbol.dispose]() {
      for (const put of putBack.toReversed()) put();
      clock.uninstall();
      syncBuiltinESMExports();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
