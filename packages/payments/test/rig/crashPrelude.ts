/**
 * Loaded before the payment relayer: counts each journal write, RPC call and HTTP call, before and after, and kills the process at the
 * one that `CRASH_AT` names. `CRASH_LOG` gets the name of each point.
 */
import { appendFileSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';

const crashAt = Number(process.env.CRASH_AT ?? '0');
const logFile = process.env.CRASH_LOG;
/** Set: only points of this name count. */
const counted = process.env.CRASH_NAME;
let points = 0;

function pass(name: string): void {
  if (counted === undefined || counted === name) points++;
  else return;
  if (logFile !== undefined) appendFileSync(logFile, `${name}\n`);
  if (points === crashAt) process.kill(process.pid, 'SIGKILL');
}

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql: string): void {
  const isCommit = sql === 'COMMIT';
  if (isCommit) pass('before commit');
  exec.call(this, sql);
  if (isCommit) pass('after commit');
};

const { run } = StatementSync.prototype;
StatementSync.prototype.run = function (this: StatementSync, ...parameters: Parameters<typeof run>) {
  const isFact = /INTO facts/.test(this.sourceSQL);
  if (isFact) pass('before fact');
  const changes = run.apply(this, parameters);
  if (isFact) pass('after fact');
  return changes;
} as typeof run;

const realFetch = globalThis.fetch;

function nameCall(input: Parameters<typeof fetch>[0], init: Parameters<typeof fetch>[1]): string {
  const methods = [...`${init?.body ?? ''}`.matchAll(/"method":"(\w+)"/g)].map(([, method]) => method);
  if (methods.length > 0) return methods.join('+');
  return new URL(input instanceof Request ? input.url : `${input}`).pathname;
}

globalThis.fetch = async (input, init) => {
  // viem hands over a Request if it has one; its body is the init's.
  const name = nameCall(input, init);
  pass(`before ${name}`);
  const response = await realFetch(input, init);
  pass(`after ${name}`);
  return response;
};
