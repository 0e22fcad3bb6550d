import { readFileSync } from 'node:fs';
import type { PaymentsRig } from '@prism-gateway/payments/demo';

/** Shared by the rows: the commands that are kept up beside them. */
export interface World {
  /** Empty folder, removed at the end. */
  readonly dir: string;
  /** Of the gateway, once it is up. */
  url: string;
  /** A chain with a frontend of card payments; started when it is first asked for. */
  payments(): Promise<PaymentsRig>;
}

/** How a command is run quickly, and what shows that it works. */
export interface Row {
  /** The words after `npx prism`; it begins as documents name it. `{dir}` and `{url}` are the world's. */
  readonly line: string;
  readonly env?: (world: World) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** The expected output. */
  readonly prints?: RegExp;
  /** Default 0. */
  readonly status?: number;
  /** Printed once it serves; then it is stopped. */
  readonly ready?: RegExp;
  /** Serves the rows below it, and is stopped after the last. */
  readonly keep?: true;
}

/** Account 1 of the devnet, an official relayer there; its key is public. */
const RELAYER = {
  key: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const NO_REQUEST = '01890000-0000-7000-8000-000000000000';

const gatewayEnv = ({ dir }: World) => ({ DATA_DIR: `${dir}/gateway`, PORT: '0' });
const exampleEnv = ({ dir, url }: World) => ({ GATEWAY_URL: url, DEVNET_FILE: `${dir}/devnet.json` });

/** Settings of a relayer on the whitelist, and of whoever watches it. */
async function relayerEnv({ dir, url }: World): Promise<Record<string, string>> {
  const headers = { 'x-admin-key': 'change-me-admin-key', 'content-type': 'application/json' };
  await fetch(`${url}/admin/relayers`, { method: 'POST', headers, body: JSON.stringify({ address: RELAYER.address }) });
  const { rpcUrl, forwarder } = JSON.parse(readFileSync(`${dir}/devnet.json`, 'utf8'));
  return {
    ...{ GATEWAY_URL: url, RPC_URL: rpcUrl, CHAIN_NAME: 'eip155:31337', FORWARDER_ADDRESS: forwarder },
    ...{ CREDITS_PER_ETH: '3000000', RELAYER_PRIVATE_KEY: RELAYER.key, METRICS_PORT: '0' },
    DATA_DIR: `${dir}/relayer`,
  };
}

/** Settings of a payment relayer with a key of its own, whose journal the rows after it read. */
async function paymentsEnv(world: World): Promise<Record<string, string>> {
  const rig = await world.payments();
  // 5 stablecoins: well within every limit.
  rig.addPayment(5_000_000n);
  return { ...rig.settingsFor(await rig.fundKey()), DATA_DIR: `${world.dir}/payments` };
}

async function deployEnv(world: World): Promise<Record<string, string>> {
  const rig = await world.payments();
  const [deployer, payer] = [await rig.fundKey(), await rig.fundKey()];
  return {
    ...rig.settingsFor(payer, [payer.address]),
    FRONTEND_ID: 'https://pay.example.com',
    PAYOUTS_DEPLOYER_PRIVATE_KEY: deployer.privateKey,
  };
}

const keystoreEnv = () => ({ KEYSTORE_PASSWORD: 'correct horse battery', KEYSTORE_PRIVATE_KEY: RELAYER.key });

/** In the order in which they run: some read what those before them leave. */
export const rows: readonly Row[] = [
  { line: 'devnet --port 0 --out {dir}/devnet.json', ready: /Written to/, keep: true },
  {
    line: 'start',
    // Every row calls from one address.
    env: (world) => ({ ...gatewayEnv(world), RATE_LIMIT_WRITES: '0', RATE_LIMIT_READS: '0', RATE_LIMIT_SIGN: '0' }),
    ready: /"address":"(?<url>[^"]+)".*"msg":"listening"/,
    keep: true,
  },
  { line: 'backup {dir}/backups', env: gatewayEnv, prints: /Backed up to/ },
  { line: 'restore {dir}/backups', env: ({ dir }) => ({ DATA_DIR: `${dir}/restored` }), prints: /Restored/ },
  { line: 'doctor', env: gatewayEnv, prints: /disk/ },
  // Its own test makes tables; a machine without an engine has none.
  { line: 'create-tables --help', prints: /Makes the tables/ },
  { line: 'whitelist list --url {url}', prints: /ADDRESS/ },
  // Not one of these requests or relayers is there: each command says so.
  { line: `whitelist suspend 0x${'5f'.repeat(20)} --reason try --url {url}`, status: 1 },
  { line: `whitelist resume 0x${'5f'.repeat(20)} --url {url}`, status: 1 },
  { line: 'requests list --url {url}', prints: /REQUEST/ },
  { line: 'requests watch --json --url {url}', ready: /"chains"/ },
  { line: `requests release ${NO_REQUEST} --url {url}`, status: 1 },
  { line: `requests fail ${NO_REQUEST} --message try --url {url}`, status: 1 },
  { line: `requests reopen ${NO_REQUEST} --url {url}`, status: 1 },
  { line: `requests purge ${NO_REQUEST} --yes ${NO_REQUEST} --url {url}`, status: 1 },
  { line: 'webhooks list --url {url}', prints: /WEBHOOK/ },
  { line: 'status --url {url}', prints: /All is well|need you/ },
  { line: 'stats --url {url}', prints: /CHAIN/ },
  { line: 'limits --url {url}', prints: /NEAREST TO A LIMIT/ },
  { line: 'completion bash', prints: /complete -o default/ },
  { line: 'token alice --url {url}', prints: /^[\w-]+\.[\w-]+\.[\w-]+$/m },
  { line: 'attack --url {url} --scale 0.01 --seconds 1', prints: /honest client: \d+ calls, 0 failed/ },
  { line: 'walkthrough --url {url}' },
  { line: 'relayer', env: relayerEnv, ready: /"msg":"started"/ },
  { line: 'example:relayer', env: exampleEnv, ready: /Relaying as/, keep: true },
  { line: 'example:submit', env: exampleEnv },
  {
    line: 'example:browser',
    env: (world) => ({ ...exampleEnv(world), PORT: '0' }),
    ready: /http:\/\/127\.0\.0\.1:\d+/,
  },
  {
    line: 'example:webhook',
    env: () => ({ PORT: '0', WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }),
    ready: /http:\/\/127\.0\.0\.1:\d+/,
  },
  { line: 'relayer status', env: relayerEnv },
  { line: `relayer explain ${NO_REQUEST}`, env: relayerEnv, status: 1 },
  {
    line: 'watchtower',
    env: async (world) => ({ ...(await relayerEnv(world)), DATA_DIR: `${world.dir}/watchtower` }),
    ready: /"msg":"started"/,
  },
  {
    line: 'watchtower audit --since 1h',
    env: relayerEnv,
    // The walkthrough above reports a transaction that it has made up.
    prints: /falseSuccess[\s\S]*1 lies of 1 relayers/,
    status: 1,
  },
  { line: 'keystore new {dir}/new.json', env: keystoreEnv, prints: /0x[0-9a-fA-F]{40}/ },
  { line: 'keystore import {dir}/imported.json', env: keystoreEnv, prints: new RegExp(RELAYER.address) },
  { line: 'payments', env: paymentsEnv, ready: /completed/ },
  { line: 'payments status', env: paymentsEnv },
  // No such payment is there: they say so.
  { line: 'payments release pi_unknown', env: paymentsEnv, status: 2 },
  { line: 'payments show pi_unknown', env: paymentsEnv, status: 2 },
  { line: 'payments close pi_unknown --refunded', env: paymentsEnv, status: 2 },
  { line: 'payments backup {dir}/payments-backup', env: paymentsEnv },
  { line: 'payments resume', env: paymentsEnv },
  { line: 'payments deploy-payouts', env: deployEnv },
  {
    line: 'gas-monitor',
    env: async (world) => ({ RPC_URL: (await world.payments()).rpcUrl, RELAYER_ADDRESSES: RELAYER.address }),
    ready: /gas monitor at work/,
  },
];

/** They need nothing of the others, and run beside each other. */
export const independentRows: readonly Row[] = [
  { line: 'demo --users 3 --requests 40', prints: /Everything is as it must be/ },
  { line: 'demo:payments' },
  { line: 'rules' },
  { line: 'format bin' },
  { line: 'mutate relayerAuth.ts', prints: /3 mutants; each/ },
];

/** Commands that are tried in another place, and tools of others that the page on deployment names. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  test: '.ci/run runs it',
  ...Object.fromEntries(['acceptance', 'bench', 'check', 'simulate'].map((name) => [name, '.ci/run runs it'])),
  deploy: 'takes an account of AWS; --infra plays it',
  synth: '--infra runs it',
  pack: '--packages installs what it makes',
  ...Object.fromEntries(
    ['format', 'types', 'imports', 'openapi', 'size'].map((part) => [`check:${part}`, 'a part of check']),
  ),
  'build:lambda': 'the first step of --infra',
  'deploy/image/build': '--deploy builds the image with it',
  podman: '--deploy runs what the image has as its nobody, on a root that is read only',
  'podman-compose': 'its images come from registries; --deploy holds compose.yaml to the schema',
  kubectl: 'takes a cluster; --deploy holds each manifest to its schema',
  promtool: '--deploy runs it, on the same files',
  systemctl: 'takes systemd as process 1; --deploy has systemd-analyze evaluate each unit',
  useradd: 'changes the machine',
};
