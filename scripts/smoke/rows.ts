import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentsRig } from '@prism-gateway/payments/demo';

/** What rows share: what earlier ones have started. */
export interface SmokeWorld {
  /** Empty folder, removed at the end. */
  readonly dir: string;
  /** What stood in the first group of `ready` of the rows that are kept up, by command. */
  readonly urls: ReadonlyMap<string, string>;
  /** A chain with a frontend of card payments; started when it is first asked for. */
  payments(): Promise<PaymentsRig>;
}

/** How a command is run quickly, and what shows that it works. */
export interface SmokeRow {
  /** As documents name it: the script, and the word that it takes. */
  readonly command: string;
  /** Arguments after that word. */
  readonly args?: (world: SmokeWorld) => readonly string[];
  readonly env?: (world: SmokeWorld) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** What it must print. */
  readonly prints?: RegExp;
  /** Exit status of one that ends by itself; default 0. */
  readonly status?: number;
  /** Printed once it serves; then it is stopped by SIGTERM, and must end with 0. */
  readonly ready?: RegExp;
  /** What is asked of it while it serves. @throws Error when the answer is wrong */
  readonly ask?: (world: SmokeWorld, url: string) => Promise<void>;
  /** Serves the rows below, and is stopped after the last. */
  readonly keep?: true;
  /** Not run here, and why. */
  readonly elsewhere?: string;
}

const ADMIN_KEY = 'change-me-admin-key';
/** Account 1 of the devnet, an official relayer there; its key is public. */
const RELAYER = {
  key: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

const NO_REQUEST = '01890000-0000-7000-8000-000000000000';
const actOptions: Readonly<Record<string, readonly string[]>> = {
  fail: ['--message', 'a try'],
  purge: ['--yes', NO_REQUEST],
};

const gatewayUrl = ({ urls }: SmokeWorld) => urls.get('start') ?? '';
const devnetFile = ({ dir }: SmokeWorld) => join(dir, 'devnet.json');
const exampleEnv = (world: SmokeWorld) => ({ GATEWAY_URL: gatewayUrl(world), DEVNET_FILE: devnetFile(world) });

async function expectOk(url: string): Promise<void> {
  const { status } = await fetch(url);
  if (status !== 200) throw new Error(`GET ${url} answered ${status}.`);
}

async function relayerEnv(world: SmokeWorld): Promise<Record<string, string>> {
  const url = gatewayUrl(world);
  const headers = { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' };
  await fetch(`${url}/admin/relayers`, { method: 'POST', headers, body: JSON.stringify({ address: RELAYER.address }) });
  const { rpcUrl, forwarder } = JSON.parse(readFileSync(devnetFile(world), 'utf8'));
  return {
    GATEWAY_URL: url,
    CHAIN_NAME: 'eip155:31337',
    RPC_URL: rpcUrl,
    FORWARDER_ADDRESS: forwarder,
    CREDITS_PER_ETH: '3000000',
    RELAYER_PRIVATE_KEY: RELAYER.key,
    DATA_DIR: join(world.dir, 'relayer'),
    METRICS_PORT: '0',
  };
}

/** A deployer of its own, which has ether. */
async function deployEnv(world: SmokeWorld): Promise<Record<string, string>> {
  const rig = await world.payments();
  const [deployer, payer] = [await rig.fundKey(), await rig.fundKey()];
  return {
    ...rig.settingsFor(payer, [payer.address]),
    PAYOUTS_DEPLOYER_PRIVATE_KEY: deployer.privateKey,
  };
}

/** Settings of a payment relayer with a key of its own, whose journal the rows after it read. */
async function paymentsEnv(world: SmokeWorld): Promise<Record<string, string>> {
  const rig = await world.payments();
  // 5 stablecoins: well within every limit.
  rig.addPayment(5_000_000n);
  return { ...rig.settingsFor(await rig.fundKey()), DATA_DIR: join(world.dir, 'payments') };
}

async function journalEnv(world: SmokeWorld): Promise<Record<string, string>> {
  return { ...(await paymentsEnv(world)), LOG_LEVEL: 'info' };
}

/** In the order in which they run: those above serve those below. */
export const rows: readonly SmokeRow[] = [
  {
    command: 'devnet',
    args: ({ dir }) => ['--port', '0', '--out', join(dir, 'devnet.json')],
    ready: /Written to/,
    keep: true,
  },
  {
    command: 'start',
    env: ({ dir }) => ({
      ...{ HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(dir, 'gateway'), ADMIN_API_KEY: ADMIN_KEY },
      // Every row calls from one address.
      ...{ RATE_LIMIT_WRITES: '0', RATE_LIMIT_READS: '0', RATE_LIMIT_SIGN: '0' },
    }),
    ready: /"address":"([^"]+)".*"msg":"listening"/,
    ask: (_, url) => expectOk(`${url}/health`),
    keep: true,
  },
  {
    command: 'backup',
    args: ({ dir }) => [join(dir, 'backups')],
    env: ({ dir }) => ({ DATA_DIR: join(dir, 'gateway') }),
    prints: /Backed up to/,
  },
  {
    command: 'restore',
    args: ({ dir }) => [join(dir, 'backups')],
    env: ({ dir }) => ({ DATA_DIR: join(dir, 'restored') }),
    prints: /Restored/,
  },
  { command: 'doctor', env: ({ dir }) => ({ DATA_DIR: join(dir, 'gateway'), PORT: '0' }), prints: /disk/ },
  { command: 'whitelist', args: (world) => ['list', '--url', gatewayUrl(world)], prints: /ADDRESS/ },
  { command: 'requests', args: (world) => ['list', '--url', gatewayUrl(world)], prints: /REQUEST/ },
  // Not one of these requests or relayers is there: each command says so.
  ...['release', 'fail', 'purge'].map((act) => ({
    command: 'requests',
    args: (world: SmokeWorld) => [act, NO_REQUEST, '--url', gatewayUrl(world), ...(actOptions[act] ?? [])],
    status: 1,
  })),
  { command: 'requests', args: (world) => ['watch', '--json', '--url', gatewayUrl(world)], ready: /"chains"/ },
  {
    command: 'whitelist',
    args: (world) => ['suspend', RELAYER.address, '--reason', 'a try', '--url', gatewayUrl(world)],
    status: 1,
  },
  { command: 'webhooks', args: (world) => ['list', '--url', gatewayUrl(world)], prints: /WEBHOOK/ },
  { command: 'stats', args: (world) => ['--url', gatewayUrl(world)], prints: /CHAIN/ },
  { command: 'limits', args: (world) => ['--url', gatewayUrl(world)], prints: /NEAREST TO A LIMIT/ },
  { command: 'completion', args: () => ['bash'], prints: /complete -o default/ },
  { command: 'token alice', args: (world) => ['--url', gatewayUrl(world)], prints: /^[\w-]+\.[\w-]+\.[\w-]+$/m },
  {
    command: 'attack',
    args: (world) => ['--url', gatewayUrl(world), '--scale', '0.01', '--seconds', '1'],
    prints: /honest client: \d+ calls, 0 failed/,
  },
  { command: 'walkthrough', args: (world) => ['--url', gatewayUrl(world)] },
  {
    command: 'example:relayer',
    env: exampleEnv,
    ready: /Relaying as/,
  },
  { command: 'relayer', env: relayerEnv, ready: /"msg":"started"/, keep: true },
  { command: 'example:submit', env: exampleEnv },
  {
    command: 'example:browser',
    env: (world) => ({ ...exampleEnv(world), PORT: '0' }),
    ready: /(http:\/\/127\.0\.0\.1:\d+)/,
    ask: (_, url) => expectOk(url),
  },
  {
    command: 'example:webhook',
    env: () => ({ PORT: '0', WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }),
    ready: /(http:\/\/127\.0\.0\.1:\d+)/,
  },
  {
    command: 'watchtower',
    env: async (world) => ({ ...(await relayerEnv(world)), DATA_DIR: join(world.dir, 'watchtower') }),
    ready: /"msg":"started"/,
  },
  {
    command: 'watchtower audit',
    args: () => ['--since', '1h'],
    env: relayerEnv,
    // The walkthrough above reports a transaction that it has made up.
    prints: /falseSuccess[\s\S]*1 lies of 1 relayers/,
    status: 1,
  },
  {
    command: 'keystore new',
    args: ({ dir }) => [join(dir, 'new.json')],
    env: () => ({ KEYSTORE_PASSWORD: 'correct horse battery' }),
    prints: /0x[0-9a-fA-F]{40}/,
  },
  {
    command: 'keystore import',
    args: ({ dir }) => [join(dir, 'imported.json')],
    env: () => ({ KEYSTORE_PASSWORD: 'correct horse battery', KEYSTORE_PRIVATE_KEY: RELAYER.key }),
    prints: new RegExp(RELAYER.address),
  },
  { command: 'relayer status', env: relayerEnv },
  { command: 'relayer explain', args: () => ['01890000-0000-7000-8000-000000000000'], env: relayerEnv, status: 1 },
  {
    command: 'payments',
    env: paymentsEnv,
    ready: /completed/,
  },
  { command: 'payments status', env: journalEnv },
  { command: 'payments:status', env: journalEnv },
  // No payment is held here: it says so.
  { command: 'payments release', args: () => ['pi_unknown'], env: journalEnv, status: 2 },
  {
    command: 'payments deploy-payouts',
    env: deployEnv,
  },
  { command: 'payments show', args: () => ['pi_unknown'], env: journalEnv, status: 2 },
  { command: 'payments close', args: () => ['pi_unknown', '--refunded'], env: journalEnv, status: 2 },
  {
    command: 'gas-monitor',
    env: async (world) => ({ RPC_URL: (await world.payments()).rpcUrl, RELAYER_ADDRESSES: RELAYER.address }),
    ready: /gas monitor at work/,
  },
  // As it is: with fewer requests it is no quicker, and one relayer may find nothing left to do.
  { command: 'demo', prints: /Everything is as it must be/ },
  { command: 'demo:payments' },
  { command: 'acceptance', args: () => ['--only', 'tests/claim'] },
  { command: 'bench', args: () => ['--quick', '--only', 'get', '--runs', '1'] },
  { command: 'bench backup', args: () => ['--quick'], prints: /POST p99/ },
  // Those of its kinds that compare documents .ci/run runs itself.
  { command: 'bench dynamodb' },
  { command: 'bench lambda', args: () => ['--quick'] },
  { command: 'bench payments', args: () => ['--quick'] },
  { command: 'bench relayer', args: () => ['--quick'] },
  { command: 'bench webhooks', args: () => ['--quick'], prints: /500 drained in/ },
  { command: 'bench webhooks', args: () => ['dynamodb', '--quick'], prints: /report to delivery, p50/ },
  { command: 'rules' },
  { command: 'format', args: () => ['bin'] },
  { command: 'pack', prints: /prism-gateway-[\d.]+\.tgz/ },
  { command: 'changeset', args: () => ['--help'] },
  { command: 'build:lambda' },
  { command: 'synth', prints: /USD a million requests/ },
  // To deploy takes an account of AWS: only its settings are shown here, once the function is built.
  { command: 'deploy', args: () => ['--help'], prints: /--stage/ },
  { command: 'vectors', elsewhere: 'protocol’s tests build the same vectors and compare them with the files' },
  { command: 'test', elsewhere: '.ci/run runs it' },
  { command: 'test:browser', elsewhere: '.ci/run runs it' },
  { command: 'test:campaigns', elsewhere: '.ci/run runs it' },
  { command: 'test:long', elsewhere: '.ci/run runs one part of it' },
  { command: 'test:long-part', elsewhere: '.ci/run runs it' },
  { command: 'test:repeat', args: () => ['--times', '1', 'scripts/long'], prints: /^1 of 1 runs were green\.$/m },
  { command: 'test:packages', elsewhere: '.ci/run runs it' },
  { command: 'test:infra', elsewhere: '.ci/run runs it' },
  { command: 'test:deploy', elsewhere: '.ci/run runs it' },
  { command: 'test:dynamodb-local', elsewhere: '.ci/run runs it' },
  { command: 'test:commands', elsewhere: 'this is it' },
  { command: 'mutate', args: () => ['relayerAuth.ts'], prints: /3 mutants; each/ },
  { command: 'check', elsewhere: '.ci/run runs it' },
  { command: 'deploy/image/build', elsewhere: 'test:deploy builds the image with it' },
  { command: 'podman', elsewhere: 'test:deploy runs what the image has as its nobody, on a root that is read only' },
  {
    command: 'podman-compose',
    elsewhere: 'its images come from registries; test:deploy holds compose.yaml to the schema',
  },
  { command: 'kubectl', elsewhere: 'takes a cluster; test:deploy holds each manifest to its schema' },
  { command: 'promtool', elsewhere: 'test:deploy runs it, on the same files' },
  { command: 'systemctl', elsewhere: 'takes systemd as process 1; test:deploy has systemd-analyze judge each unit' },
  { command: 'useradd', elsewhere: 'changes the machine' },
  ...['check:format', 'check:types', 'check:imports', 'check:openapi', 'check:size', 'check:way'].map((command) => ({
    command,
    elsewhere: 'a part of check',
  })),
];
