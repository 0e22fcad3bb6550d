import { fork } from 'node:child_process';
import type { CallAnswer, CallTable } from './callTable.ts';
import { stopProcess } from './stopProcess.ts';

/** A child process of the bench that answers calls. */
export interface Child<Table extends CallTable> {
  readonly pid: number;
  call<Name extends keyof Table & string>(name: Name, params: Table[Name]['params']): Promise<Table[Name]['result']>;
  stop(): Promise<void>;
}

/** What to start and how. */
export interface ChildStart {
  /** File to run: it must call `serveCalls`. */
  readonly entry: URL;
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Waiter {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * Starts a child process and waits until it answers.
 *
 * @param start what to run
 * @returns a handle that calls into it and stops it
 */
export async function startChild<Table extends CallTable>(start: ChildStart): Promise<Child<Table>> {
  const child = fork(start.entry, [], {
    execArgv: [...(start.nodeFlags ?? [])],
    env: { ...process.env, ...start.env },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiters = new Map<number, Waiter>();
  const ready = Promise.withResolvers<unknown>();
  waiters.set(0, ready);

  child.on('message', (answer: CallAnswer) => {
    const waiter = waiters.get(answer.callId);
    waiters.delete(answer.callId);
    if ('error' in answer) waiter?.reject(new Error(answer.error));
    else waiter?.resolve(answer.result);
  });
  child.on('exit', (code, signal) => {
    const error = new Error(`${start.entry.pathname} ended early (code ${code}, signal ${signal}).`);
    for (const waiter of waiters.values()) waiter.reject(error);
    waiters.clear();
  });
  await ready.promise;

  let lastCallId = 0;
  return {
    // A process that has answered has a pid.
    pid: child.pid as number,
    call(name, params) {
      const callId = ++lastCallId;
      const waiter = Promise.withResolvers<unknown>();
      waiters.set(callId, waiter);
      child.send({ callId, name, params });
      // The table is the agreement between this handle and the child's handlers; both are checked against it.
      return waiter.promise as Promise<Table[typeof name]['result']>;
    },
    stop: () => stopProcess(child),
  };
}
