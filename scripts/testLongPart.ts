/**
 * `npm run test:long-part [-- NAME]`: one part of `npm run test:long`, chosen by the commit that is checked out, or by its name. What is
 * random in it comes from a seed that is printed; TEST_SEED repeats a run.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { runNode } from '../bin/runNode.mjs';
import { choosePart } from './long/choosePart.ts';
import { longParts } from './long/longParts.ts';

const MAX_SEED = 2 ** 31;
const root = fileURLToPath(new URL('..', import.meta.url));
const [name] = process.argv.slice(2);
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
const part = name === undefined ? choosePart(longParts, commit) : longParts.find((known) => known.name === name);

if (part === undefined) {
  console.error(`There is no part "${name}"; there are ${longParts.map((known) => known.name).join(', ')}.`);
  process.exitCode = 2;
} else {
  const seed = process.env.TEST_SEED ?? String(randomInt(MAX_SEED));
  console.log(`Commit ${commit.slice(0, 12)}: part "${part.name}", TEST_SEED=${seed}`);
  process.chdir(root);
  process.exitCode = await runNode({
    node: process.execPath,
    args: ['node_modules/vitest/vitest.mjs', 'run', ...part.files],
    // Some tests read a seed of their own.
    env: { ...process.env, TEST_LONG: '1', TEST_SEED: seed, FUZZ_SEED: seed, FC_SEED: seed },
  });
}
