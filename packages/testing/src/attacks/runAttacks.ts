import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackState } from './attack.ts';
import type { AttackName } from './attacks.ts';
import { type Honest, measureHonest } from './measureHonest.ts';
import { type StartedAttack, startAttack } from './startAttack.ts';

/** How many connections each attack opens. */
export type AttackSizes = Readonly<Partial<Record<AttackName, number>>>;

/** The combined attack that an installation has to bear. */
export const COMBINED = { 'half-bodies': 3000, 'no-readers': 2500, 'slow-senders': 1000 } as const;

/** The full size of each attack when it is asked for by name. */
export const FULL_SIZES: Readonly<Record<AttackName, number>> = {
  ...COMBINED,
  'half-heads': 6000,
  pipelines: 100,
  'tiny-chunks': 200,
  'long-queues': 200,
  'many-fields': 500,
  'bad-bodies': 100,
  'wrong-keys': 200,
  idle: 10_000,
};

export interface AttackPlan {
  readonly url: string;
  readonly sizes: AttackSizes;
  /** How long the attacks go on once all connections were tried, in seconds. */
  readonly seconds: number;
  /** How long the target has to recover, in seconds, while the honest client goes on. */
  readonly recoverySeconds: number;
  /** The process that is attacked, if it is on this machine: its memory is read. */
  readonly pid?: number;
}

/** Resident memory of the target, in bytes. */
export interface Memory {
  readonly before: number;
  readonly peak: number;
  readonly after: number;
}

/** The result of an attack. */
export interface AttackReport {
  readonly attacks: readonly { readonly name: AttackName; readonly state: AttackState }[];
  /** How an honest client was served while the attacks went on. */
  readonly honest: Honest;
  /** Absent without a process to look at. */
  readonly memory?: Memory;
}

/** Milliseconds between two calls of the honest client. */
const CALL_EVERY_MS = 20;
/** How long the honest client calls before the attacks begin, in milliseconds: the target is then as it usually is. */
const WARM_UP_MS = 3000;
const SAMPLE_EVERY_MS = 200;
const BYTES_A_KILOBYTE = 1024;
const MS_PER_SECOND = 1000;

/** Addresses of this machine that attackers on it come from; 127.0.0.1 is left to the honest client. */
const LOOPBACK_ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'];

/** Only Linux answers on all of 127.0.0.0/8 without being set up to. */
function addressesFor(url: string): readonly string[] {
  const { hostname } = new URL(url);
  return hostname === '127.0.0.1' && process.platform === 'linux' ? LOOPBACK_ADDRESSES : [];
}

/** @see https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
async function readResident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * BYTES_A_KILOBYTE;
}

/** Reads the memory of a process again and again. */
function followMemory(pid: number) {
  const ended = new AbortController();
  let peak = 0;
  const reading = (async () => {
    while (!ended.signal.aborted) {
      peak = Math.max(peak, await readResident(pid));
      await sleep(SAMPLE_EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop(): Promise<number> {
      ended.abort();
      await reading;
      return peak;
    },
  };
}

/** Calls honestly for a while. */
const callFor = (url: string, ms: number) =>
  measureHonest({ url, everyMs: CALL_EVERY_MS, signal: AbortSignal.timeout(ms) });

function startAll({ url, sizes }: AttackPlan): Promise<(StartedAttack & { readonly name: AttackName })[]> {
  const addresses = addressesFor(url);
  // The keys are the attacks' names.
  const names = Object.keys(sizes) as AttackName[];
  return Promise.all(
    names.map(async (name) => ({
      name,
      ...(await startAttack({ name, url, connections: sizes[name] ?? 0, addresses })),
    })),
  );
}

/** Attacks, and measures an honest client meanwhile. */
async function attackOnce(plan: AttackPlan): Promise<Omit<AttackReport, 'memory'>> {
  const ended = new AbortController();
  const measuring = measureHonest({ url: plan.url, everyMs: CALL_EVERY_MS, signal: ended.signal });
  const running = await startAll(plan);
  await sleep(plan.seconds * MS_PER_SECOND);
  ended.abort();
  const honest = await measuring;
  const attacks = await Promise.all(running.map(async ({ name, state }) => ({ name, state: await state() })));
  await Promise.all(running.map(({ stop }) => stop()));
  return { attacks, honest };
}

/**
 * Attacks an installation in several ways at once, and says how an honest client fared meanwhile.
 *
 * @param plan - what, how much, how long
 * @returns what came of it
 */
export async function runAttacks(plan: AttackPlan): Promise<AttackReport> {
  const { url, pid, recoverySeconds } = plan;
  await callFor(url, WARM_UP_MS);
  if (pid === undefined) return await attackOnce(plan);
  const before = await readResident(pid);
  const memory = followMemory(pid);
  const report = await attackOnce(plan);
  await callFor(url, recoverySeconds * MS_PER_SECOND);
  return { ...report, memory: { before, after: await readResident(pid), peak: await memory.stop() } };
}
