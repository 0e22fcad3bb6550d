// @ts-check
/**
 * Every program of this repository: what it is for, what Node runs, and with which flags.
 */

/**
 * One run of Node.
 *
 * @typedef {object} Step
 * @property {string} file what Node runs, from the repository's root
 * @property {readonly string[]} [args] arguments before the user's own, which only the last step of a program gets
 * @property {readonly string[]} [nodeFlags] flags of Node
 * @property {Readonly<Record<string, string>>} [env] variables on top of the environment
 */

/**
 * @typedef {object} Program
 * @property {string} summary what it does, in a few words
 * @property {'run' | 'try' | 'develop' | 'deploy'} group the heading it is listed under
 * @property {readonly Step[]} steps run one after the other; the first that fails ends the program
 * @property {readonly string[]} [alsoInstalls] folders with a lockfile of their own that it needs, from the repository's root
 * @property {true} [usesTools] it loads packages that only tests, checks and builds need otherwise
 * @property {string} [takes] what it takes, for a program without a help of its own: the launcher prints it
 * @property {readonly string[]} [loadsLater] files that it loads once it runs, or its threads do: what `import` does not show
 */

/**
 * Where Node keeps what it has compiled, from the repository's root: the next start of any program takes a third less time.
 *
 * @see https://nodejs.org/api/module.html#module-compile-cache
 */
export const compileCache = 'node_modules/.cache/node';

/**
 * Flags that keep the gateway small and even; each was measured by `npm run bench`.
 */
const gatewayFlags = [
  // Half of the young generation, in MB. Smaller ones save nothing: what lives through them is promoted and stays.
  '--max-semi-space-size=8',
  // Leaves the second core to the helper thread, which writes and recovers signatures meanwhile: 5 to 8 % more requests.
  '--no-parallel-scavenge',
  // The middle compiler holds some 15 MB while it works, and the gateway is no faster with it.
  '--no-maglev',
  // Earlier major collections, from a smaller start: together some 15 MB less.
  '--heap-growing-percent=30',
  '--initial-old-space-size=24',
  // It collects once a rush of connections is over: V8 would not look at what they left for as long as the gateway rests.
  '--expose-gc',
];

/**
 * Flags of a gateway on a store. On PostgreSQL each of many calls waits for the database, and a small young generation is full of what
 * waits: with 128 at once a larger one gives 10 to 18 % more lives a second, for 50 MB.
 *
 * @param {string} [store] its `STORE`
 */
export const gatewayFlagsOn = (store) =>
  store === 'postgres' ? [...gatewayFlags, '--max-semi-space-size=32'] : gatewayFlags;

/** How the relayer is run: what strangers post, and what comes of it, lives shortly, and V8 would let it pile up. */
export const relayer = {
  file: 'packages/relayer/src/entry/relayer.ts',
  // With a million junk requests before it 180 MB at most instead of 330, and as quick.
  nodeFlags: ['--max-semi-space-size=8', '--heap-growing-percent=30', '--initial-old-space-size=24'],
  // As for the gateway; pieces above 128 kB are mapped each by itself.
  env: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' },
};

/** How the gateway is run; the bench runs it so too. */
export const gateway = {
  file: 'packages/gateway/src/entry/server.ts',
  nodeFlags: gatewayFlagsOn(process.env.STORE),
  env: {
    // Two memory pools of the C library instead of eight a core: 10 MB less, at the same speed.
    MALLOC_ARENA_MAX: '2',
    // It gives memory back as soon as this much is free, and does not raise the bound by itself: after an attack 60 MB less.
    MALLOC_TRIM_THRESHOLD_: '131072',
    // Chunks of bodies are mapped each by itself, so that none keeps the pool from shrinking: after an attack 100 MB less.
    MALLOC_MMAP_THRESHOLD_: '8192',
  },
};

const typeScript = 'node_modules/typescript/bin/tsc';
const biome = 'node_modules/@biomejs/biome/bin/biome';

/** @type {readonly Step[]} */
const checkFormat = [{ file: biome, args: ['check', '--error-on-warnings'] }];
/** @type {readonly Step[]} */
const checkTypes = [
  { file: typeScript, args: ['--noEmit', '-p', '.'] },
  { file: typeScript, args: ['--noEmit', '-p', 'examples'] },
  { file: typeScript, args: ['--noEmit', '-p', 'packages/console'] },
];
/** @type {readonly Step[]} */
const checkImports = [
  {
    file: 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    args: [
      ...['--config', '.dependency-cruiser.cjs'],
      ...['packages', 'acceptance', 'bench', 'bin', 'demo', 'deploy', 'examples', 'infra', 'scripts'],
    ],
  },
  { file: 'scripts/checkExports.ts' },
];
/** @type {readonly Step[]} */
const checkOpenApi = [{ file: 'packages/gateway/scripts/lintOpenApi.ts' }];
/** @type {readonly Step[]} */
const checkSize = [{ file: 'packages/sdk/scripts/checkSize.ts' }];
/** @type {Step} */
const buildLambda = { file: 'scripts/buildLambda.ts' };

/** @satisfies {Readonly<Record<string, Program>>} */
export const programs = {
  start: {
    summary: 'the gateway, with everything it needs embedded',
    group: 'run',
    steps: [gateway],
    loadsLater: [
      'packages/gateway/src/drivers/sqlite/openSqliteStores.ts',
      'packages/gateway/src/drivers/devIssuer/createDevIssuer.ts',
      'packages/gateway/src/drivers/oidc/createOidcVerifier.ts',
      'packages/gateway/src/entry/workerThread/workerMain.ts',
      'packages/gateway/src/drivers/sqlite/runWriter.ts',
      'packages/gateway/src/drivers/secp256k1/runRecovery.ts',
    ],
  },
  relayer: {
    summary: 'claims requests, submits them to the chain and reports how they ended',
    group: 'run',
    steps: [relayer],
  },
  watchtower: {
    summary: 'compares what relayers report with the chain; `watchtower audit` goes through the past',
    group: 'run',
    steps: [{ file: 'packages/relayer/src/entry/watchtower.ts' }],
  },
  payments: {
    summary: 'turns card payments into credits; `payments status` lists those under way',
    group: 'run',
    steps: [{ file: 'packages/payments/src/entry/payments.ts' }],
  },
  'gas-monitor': {
    summary: 'warns before a relayer has no gas left',
    group: 'run',
    steps: [{ file: 'packages/payments/src/entry/gasMonitor.ts' }],
  },
  backup: {
    summary: 'copies database, objects and secrets, while the gateway runs',
    group: 'run',
    steps: [{ file: 'packages/gateway/src/entry/backup.ts' }],
  },
  restore: {
    summary: 'brings a backup back, into a new DATA_DIR',
    group: 'run',
    steps: [{ file: 'packages/gateway/src/entry/restore.ts' }],
  },
  doctor: {
    summary: 'looks at settings, port, disk, database and identity, and says what to do',
    group: 'run',
    steps: [{ file: 'packages/gateway/src/entry/doctor.ts' }],
  },
  'create-tables': {
    summary: 'makes the tables that a gateway on DynamoDB needs',
    group: 'run',
    steps: [{ file: 'packages/gateway/src/entry/createTables.ts' }],
  },
  whitelist: {
    summary: 'relayers who may claim: add, list, remove, suspend, resume',
    group: 'run',
    steps: [{ file: 'packages/cli/src/entry/cli.ts', args: ['whitelist'] }],
  },
  requests: {
    summary: 'the queue: list, show, watch, release, fail, purge',
    group: 'run',
    steps: [{ file: 'packages/cli/src/entry/cli.ts', args: ['requests'] }],
  },
  webhooks: {
    summary: 'receivers of events: list, add, remove, enable, disable, rotate, deliveries, resend',
    group: 'run',
    steps: [{ file: 'packages/cli/src/entry/cli.ts', args: ['webhooks'] }],
  },
  status: {
    summary: 'is all well, and if not, what to do',
    group: 'run',
    steps: [{ file: 'packages/cli/src/entry/cli.ts', args: ['status'] }],
  },
  stats: {
    summary: 'the queue and its relayers at one look',
    group: 'run',
    steps: [{ file: 'packages/cli/src/entry/cli.ts', args: ['stats'] }],
  },
  limits: {
    summary: 'limits in force, the clients that are near to one, and budgets in use',
    group: 'run',
    steps: [{ file: 'packages/cli/src/entry/cli.ts', args: ['limits'] }],
  },
  completion: {
    summary: 'prints the completion of this command for bash or zsh',
    group: 'run',
    steps: [{ file: 'packages/cli/src/entry/cli.ts', args: ['completion'] }],
  },
  keystore: {
    summary: 'makes an encrypted keystore: `keystore new FILE`, `keystore import FILE`',
    group: 'run',
    steps: [{ file: 'packages/node/src/entry/keystore.ts' }],
  },
  token: {
    summary: 'prints an access token of the development identity provider, or revokes one',
    group: 'try',
    steps: [{ file: 'packages/gateway/src/entry/token.ts' }],
  },
  devnet: {
    summary: 'a development chain on 127.0.0.1:8545 with the contracts on it',
    group: 'try',
    steps: [{ file: 'packages/devnet/src/entry/devnet.ts' }],
    loadsLater: ['packages/devnet/src/deployContracts.ts', 'packages/devnet/src/startDevnet.ts'],
  },
  walkthrough: {
    summary: 'plays the main job against a gateway and shows each call',
    group: 'try',
    steps: [{ file: 'acceptance/walkthrough/run.ts' }],
  },
  demo: {
    summary: 'plays the whole loop on a chain of its own and checks the outcome',
    group: 'try',
    steps: [{ file: 'demo/src/main.ts' }],
  },
  'demo:payments': {
    summary: 'plays fifty card payments with crashes, and accounts for every unit',
    takes: '',
    group: 'try',
    usesTools: true,
    steps: [{ file: 'packages/payments/scripts/demo/main.ts' }],
  },
  'example:relayer': {
    summary: 'a small relayer, written with the SDK',
    takes: '',
    group: 'try',
    steps: [{ file: 'examples/node/relayer.ts' }],
  },
  'example:submit': {
    summary: 'a user who signs, submits, waits and keeps a file',
    takes: '',
    group: 'try',
    steps: [{ file: 'examples/node/submit.ts' }],
  },
  'example:browser': {
    summary: 'the same in a page on http://127.0.0.1:8790/',
    takes: '',
    group: 'try',
    usesTools: true,
    steps: [{ file: 'examples/browser/serve.ts' }],
  },
  'example:webhook': {
    summary: 'a receiver of webhooks, which verifies them',
    takes: '',
    group: 'try',
    usesTools: true,
    steps: [{ file: 'examples/node/webhook.ts' }],
  },
  test: {
    summary: 'unit, contract, property and acceptance tests; other suites by options such as `--browser`',
    group: 'develop',
    steps: [{ file: 'scripts/runTests.ts' }],
  },
  mutate: {
    summary: 'spoils the modules that carry promises, and sees that a test notices each change',
    takes: '[PATH…]',
    group: 'develop',
    steps: [{ file: 'scripts/mutate.ts' }],
  },
  acceptance: {
    summary: 'the black-box suite, against any gateway',
    group: 'develop',
    steps: [{ file: 'acceptance/run.ts' }],
  },
  attack: {
    summary: 'attacks an installation of yours, and times an honest client meanwhile',
    group: 'develop',
    steps: [{ file: 'packages/testing/src/attacks/main.ts' }],
    loadsLater: ['packages/testing/src/attacks/attackWorker.ts'],
  },
  simulate: {
    summary: 'lives gateway, relayers and users in virtual time, from one seed, and says what does not hold',
    group: 'develop',
    steps: [{ file: 'simulation/src/main.ts' }],
  },
  bench: {
    summary: 'measures the gateway beside its baselines',
    group: 'develop',
    steps: [{ file: 'bench/src/main.ts' }],
  },
  check: {
    summary: "format, lint, types, import rules, OpenAPI, the SDK's size",
    takes: '',
    group: 'develop',
    steps: [...checkFormat, ...checkTypes, ...checkImports, ...checkOpenApi, ...checkSize],
  },
  'check:format': { summary: 'format and lint alone', takes: '', group: 'develop', steps: checkFormat },
  'check:types': { summary: 'types alone', takes: '', group: 'develop', steps: checkTypes },
  'check:imports': { summary: 'who imports whom', takes: '', group: 'develop', steps: checkImports },
  'check:openapi': { summary: 'the OpenAPI document alone', takes: '', group: 'develop', steps: checkOpenApi },
  'check:size': { summary: 'the size of the SDK alone', takes: '', group: 'develop', steps: checkSize },
  rules: {
    summary: 'lists the rules of the specification, each with the tests that show it',
    takes: '',
    group: 'develop',
    steps: [{ file: 'scripts/listRules.ts' }],
  },
  format: {
    summary: "puts the sources in the house's form",
    takes: '',
    group: 'develop',
    steps: [{ file: biome, args: ['check', '--write'] }],
  },
  pack: {
    summary: 'builds the published packages into dist/packages',
    takes: '',
    group: 'develop',
    steps: [{ file: 'scripts/packages/pack.ts' }],
  },
  'build:lambda': {
    summary: "builds the function's one file into dist/lambda",
    takes: '',
    group: 'deploy',
    steps: [buildLambda],
  },
  synth: {
    summary: "writes the stack's template for AWS",
    takes: '[--stage dev|prod] and the options of docs/lambda.md',
    group: 'deploy',
    alsoInstalls: ['infra'],
    steps: [buildLambda, { file: 'infra/src/entry/main.ts', args: ['synth'] }],
  },
  deploy: {
    summary: 'deploys the stack to AWS: `deploy --stage prod`',
    takes: '[--stage dev|prod] and the options of docs/lambda.md',
    group: 'deploy',
    alsoInstalls: ['infra'],
    steps: [buildLambda, { file: 'infra/src/entry/main.ts', args: ['deploy'] }],
  },
};
