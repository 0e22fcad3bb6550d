import { type Sandbox, type SandboxOptions, startSandbox } from './startSandbox.ts';

/** Instances of one function, as many as there are calls at a time. */
export interface SandboxPool {
  /** Hands a call to an idle instance, or to a new one, or to the first that becomes idle. */
  invoke(event: unknown): Promise<string>;
  /** What the instances have shown so far. */
  report(): PoolReport;
  close(): Promise<void>;
}

/** Figures of all instances. */
export interface PoolReport {
  readonly instances: number;
  /** Longest time that one took to get ready, in milliseconds. */
  readonly slowestInitMs: number;
  /** The most memory that one has had, in bytes. */
  readonly peakBytes: number;
  /** How long the calls took, from the moment that an instance had them, in milliseconds. */
  readonly durationsMs: readonly number[];
}

interface PoolOptions extends SandboxOptions {
  /** Most instances at a time. */
  readonly maxInstances: number;
}

/** Makes a pool that is empty at first: the first calls meet cold starts, as on Lambda. */
export function createSandboxPool({ maxInstances, ...options }: PoolOptions): SandboxPool {
  const all: Sandbox[] = [];
  const idle: Sandbox[] = [];
  const waiting: ((sandbox: Sandbox) => void)[] = [];
  const durationsMs: number[] = [];
  let starting = 0;

  async function take(): Promise<Sandbox> {
    const sandbox = idle.pop();
    if (sandbox !== undefined) return sandbox;
    if (all.length + starting < maxInstances) {
      starting++;
      try {
        const started = await startSandbox(options);
        all.push(started);
        return started;
      } finally {
        starting--;
      }
    }
    return await new Promise((resolve) => waiting.push(resolve));
  }

  function giveBack(sandbox: Sandbox): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(sandbox);
    else next(sandbox);
  }

  return {
    async invoke(event) {
      const sandbox = await take();
      const startedAt = performance.now();
      try {
        return await sandbox.invoke(event);
      } finally {
        durationsMs.push(performance.now() - startedAt);
        giveBack(sandbox);
      }
    },
    report: () => ({
      instances: all.length,
      slowestInitMs: Math.max(0, ...all.map(({ initMs }) => initMs)),
      peakBytes: Math.max(0, ...all.map((sandbox) => sandbox.peakBytes())),
      durationsMs,
    }),
    async close() {
      await Promise.all(all.map((sandbox) => sandbox.close()));
    },
  };
}
