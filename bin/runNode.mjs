// @ts-check
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Signals passed on to the program. */
const passedOn = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * @typedef {object} NodeRun
 * @property {string} node path of the executable
 * @property {readonly string[]} args flags, the file, and its arguments
 * @property {NodeJS.ProcessEnv} env
 */

/**
 * Runs Node as a child, without a shell, until it ends. Signals to this process are passed on.
 *
 * @param {NodeRun} run what to run
 * @returns {Promise<number>} its exit status; 128 and the number of the signal that ended it, as shells have it
 * @throws {Error} if it cannot be started
 */
export async function runNode({ node, args, env }) {
  const child = spawn(node, args, { env, stdio: 'inherit', shell: false });
  /** @param {NodeJS.Signals} signal */
  const passOn = (signal) => child.kill(signal);
  for (const signal of passedOn) process.on(signal, passOn);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  } finally {
    for (const signal of passedOn) process.off(signal, passOn);
  }
}

/** How often the parent is looked after, in milliseconds. */
const PARENT_LOOK_MS = 250;

/**
 * Runs Node as a child, as `runNode`, and asks it to end once the parent of this process is gone: npm passes signals on to the shell that
 * it starts programs by, and the shell dies of them without a word to the program.
 *
 * @param {NodeRun} run what to run
 * @returns {Promise<number>} its exit status
 */
export async function runBelowNpm(run) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_LOOK_MS);
  return await runNode(run).finally(() => clearInterval(timer));
}

/**
 * Lets Node take this process's place, if the platform and the Node that runs this can do so: then no launcher stays in memory, and
 * signals need nobody to pass them on. Else it runs as a child.
 *
 * @param {NodeRun} run what to run
 * @returns {Promise<number>} its exit status, if it ran as a child
 * @see https://nodejs.org/api/process.html#processexecvefile-args-env
 */
export async function becomeNode(run) {
  // Windows has no such call; Node has it from 22.15 on.
  if (process.platform === 'win32' || process.execve === undefined) return await runNode(run);
  return process.execve(run.node, [run.node, ...run.args], run.env);
}
