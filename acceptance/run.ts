/** `npm run acceptance`: the black-box tests, against any gateway. */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { createCoverageReporter } from './coverageReporter.ts';
import { defaultAdminKey } from './rig/defaultTarget.ts';
import { explainTarget } from './rig/explainTarget.ts';
import { onLambdaLocal } from './rig/onLambdaLocal.ts';
import { readFacts } from './rig/readFacts.ts';

const HELP = `Tests a gateway from outside, by the contract, and prints what of it was covered.

  npm run acceptance                                    starts a gateway of its own, and others with special settings
  npm run acceptance -- --url https://gateway.example   tests that one
  npm run acceptance -- --target lambda-local           builds the function and tests it, as Lambda runs it, on this machine

  --url URL               base URL, with its stage prefix if it has one
  --admin-key KEY         its admin key; default ADMIN_API_KEY, else the development default
  --token TOKEN           an access token, where it has no development issuer; twice, of two users, to see them kept apart
  --max-body-bytes N      its MAX_BODY_BYTES, default 262144
  --max-batch-size N      its MAX_BATCH_SIZE, default 100
  --only NAME             only test files whose path holds NAME; may stand several times
  --help                  this text

On a gateway that is in use: the run whitelists relayers of its own and removes them at the end, uses chain names that begin
with "acceptance.", and reports its pending requests as failed when it is done; their records stay. It takes some 900 writes:
where the rate limits are in force, it waits as it is asked to.`;

const OPTIONS = {
  url: { type: 'string' },
  target: { type: 'string' },
  'admin-key': { type: 'string' },
  token: { type: 'string', multiple: true },
  'max-body-bytes': { type: 'string' },
  'max-batch-size': { type: 'string' },
  only: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

/** A fault of the arguments; `message` is a sentence for a person. */
class ArgumentsError extends Error {
  override readonly name = 'ArgumentsError';
  readonly code = 'ARGUMENTS_INVALID';
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (cause) {
    throw new ArgumentsError(cause instanceof Error ? `${cause.message}. Try --help.` : 'The arguments are wrong.', {
      cause,
    });
  }
}

type Arguments = ReturnType<typeof readArguments>;

function checkArguments(values: Arguments): void {
  const { url, 'max-body-bytes': bytes = '1', 'max-batch-size': batch = '1' } = values;
  if (url !== undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
    throw new ArgumentsError('--url takes an http or https URL.');
  }
  if (!/^[1-9]\d*$/.test(bytes) || !/^[1-9]\d*$/.test(batch)) throw new ArgumentsError('The limits are whole numbers.');
  if (values.target !== undefined && values.target !== 'lambda-local') {
    throw new ArgumentsError('--target takes lambda-local.');
  }
  if (values.target !== undefined && url !== undefined) throw new ArgumentsError('Take --target or --url, not both.');
  if (url === undefined && (values['admin-key'] !== undefined || values.token !== undefined)) {
    throw new ArgumentsError('--admin-key and --token go with --url.');
  }
}

/** The variables that `globalSetup.ts` and the configuration read. */
function environmentOf(values: Arguments, environment: NodeJS.ProcessEnv): Record<string, string> {
  if (values.url === undefined) return { TEST_LONG: '1' };
  return {
    ACCEPTANCE_URL: values.url,
    ACCEPTANCE_ADMIN_KEY: values['admin-key'] ?? defaultAdminKey(environment),
    ACCEPTANCE_TOKENS: (values.token ?? []).join('\n'),
    ACCEPTANCE_MAX_BODY_BYTES: values['max-body-bytes'] ?? '',
    ACCEPTANCE_MAX_BATCH_SIZE: values['max-batch-size'] ?? '',
  };
}

async function runTests(values: Arguments): Promise<number> {
  Object.assign(process.env, environmentOf(values, process.env));
  const facts = readFacts(process.env);
  const obstacle = facts && (await explainTarget(facts));
  if (obstacle !== undefined) throw new ArgumentsError(obstacle);
  const { only = [] } = values;
  const whyNotRun =
    only.length > 0
      ? 'their tests are not among those chosen by --only'
      : 'they need a gateway with settings of its own: run without --url and --target';
  const root = import.meta.dirname;
  const vitest = await startVitest([...only], {
    root,
    config: `${root}/vitest.config.ts`,
    watch: false,
    reporters: ['default', createCoverageReporter({ whyNotRun, print: (text) => console.log(text) })],
  });
  await vitest.close();
  return Number(process.exitCode ?? 0);
}

/** Runs the tests where the arguments say. */
async function runOn(values: Arguments): Promise<number> {
  if (values.target === undefined) return await runTests(values);
  const result = await onLambdaLocal((target) => runTests({ ...values, ...target }));
  if (typeof result === 'string') throw new ArgumentsError(result);
  return result;
}

async function main(): Promise<number> {
  try {
    const values = readArguments(process.argv.slice(2));
    checkArguments(values);
    if (values.help !== true) return await runOn(values);
    console.log(HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof ArgumentsError)) throw error;
    console.error(error.message);
    return 1;
  }
}

if (import.meta.main) process.exit(await main());
