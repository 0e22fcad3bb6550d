#!/usr/bin/env node
// @ts-check
/**
 * The one launcher: `npx prism PROGRAM [OPTIONS]`; `npm start` and every `npm run` come here. It runs on the machine's own Node (>= 20),
 * installs what is missing, and then runs the program on the Node that the lockfile names. Which program that is, and with which flags,
 * stands in ./programs.mjs.
 */
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InstallError, installPackages } from '../scripts/install.mjs';
import { chooseProgram } from './chooseProgram.mjs';
import { programs } from './programs.mjs';
import { becomeNode, runBelowNpm, runNode } from './runNode.mjs';
import { toRun } from './toRun.mjs';
import { warmCompileCache } from './warmCompileCache.mjs';

/** @import { Program } from './programs.mjs' */

const NOTE = '`npm start` is `npx prism start`, `npm run relayer -- --help` is `npx prism relayer --help`.';
const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {Program} program what is about to run */
function installFor({ alsoInstalls = [], group, usesTools }) {
  // Its binaries, 60 MB, are a development dependency.
  const usesEmbeddedPostgres = process.env.STORE === 'postgres' && !process.env.DATABASE_URL;
  const needsTools = usesTools === true || usesEmbeddedPostgres;
  const extent = (group === 'run' || group === 'try') && !needsTools ? 'run' : 'all';
  if (installPackages({ folder: root, contents: 'the dependencies', extent }))
    warmCompileCache({ root }, programs.start);
  for (const folder of alsoInstalls) {
    installPackages({ folder: join(root, folder), contents: `the dependencies of ${folder}/` });
  }
}

/**
 * Runs a program's steps; the last takes this process's place where that can be.
 *
 * @param {Program} program
 * @param {readonly string[]} args the user's own
 * @returns {Promise<number>} exit status of the first step that failed, or of the last
 */
async function runProgram({ steps, group }, args) {
  // As under npm: what a program starts by name is found in the repository first.
  process.env.PATH = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  // Tools look for their configuration where they run; the others take paths from where the user is.
  if (group === 'develop') process.chdir(root);
  const runs = steps.map((step, index) => toRun({ root, group, args: index === steps.length - 1 ? args : [] }, step));
  for (const run of runs.slice(0, -1)) {
    const status = await runNode(run);
    if (status !== 0) return status;
  }
  // Scripts of npm replace their shell by this process; that of `npx` stays between.
  const runLast = process.env.npm_lifecycle_event === 'npx' ? runBelowNpm : becomeNode;
  // A program has at least one step.
  return await runLast(/** @type {import('./runNode.mjs').NodeRun} */ (runs.at(-1)));
}

/**
 * @param {readonly string[]} words of the command line
 * @returns {Promise<number>} exit status
 */
async function main(words) {
  const chosen = chooseProgram({ programs, note: NOTE }, words);
  if (typeof chosen === 'number') return chosen;
  installFor(chosen.program);
  return await runProgram(chosen.program, chosen.rest);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof InstallError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
