/** `npm run devnet`: a development chain on 127.0.0.1:8545 with the contracts deployed. */
import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Deployment } from '@prism-gateway/contracts';
import { DirectoryError, makeDirectory } from '@prism-gateway/node';
import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import type { AnvilStartError } from '../startDevnet.ts';

const HELP = `Starts a development chain (Anvil) on 127.0.0.1 and deploys the contracts to it.

  --port N            default 8545; 0 for any free port
  --chain-id N        default 31337
  --block-time-ms N   default: a block a transaction
  --out FILE          where the addresses go as JSON; default data/devnet.json
  --json              one line of JSON in the place of the text: rpcUrl, contracts, accounts with their keys, and the file
  --help              this text

Account 0 deploys, owns the contracts and holds credits; account 1 is an official relayer. Ctrl-C ends the chain.`;

function parse(args: readonly string[]) {
  return parseCommandLine({
    args: [...args],
    options: {
      port: { type: 'string', default: '8545' },
      'chain-id': { type: 'string', default: '31337' },
      'block-time-ms': { type: 'string' },
      out: { type: 'string', default: 'data/devnet.json' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false, short: 'h' },
    },
  }).values;
}

function readNumber(option: string, text: string, range: { readonly least: number; readonly most: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.least && value <= range.most) return value;
  throw new CommandLineError(
    `--${option} takes a whole number from ${range.least} to ${range.most}, not "${text}". Try --help.`,
  );
}

function readArguments(args: readonly string[]) {
  const values = parse(args);
  const blockTime = values['block-time-ms'];
  return {
    help: values.help,
    json: values.json,
    out: resolve(values.out),
    devnet: {
      port: readNumber('port', values.port, { least: 0, most: 65_535 }),
      chainId: readNumber('chain-id', values['chain-id'], { least: 1, most: Number.MAX_SAFE_INTEGER }),
      ...(blockTime === undefined
        ? {}
        : { blockTimeMs: readNumber('block-time-ms', blockTime, { least: 1, most: 3_600_000 }) }),
    },
  };
}

/** The report of a chain that is up. */
interface DevnetReport {
  readonly rpcUrl: string;
  readonly contracts: Deployment;
  readonly accounts: readonly { readonly address: string; readonly privateKey: string }[];
  /** Path of the file with the addresses. */
  readonly file: string;
}

function describe({ rpcUrl, contracts, accounts, file }: DevnetReport): string {
  return [
    `RPC ${rpcUrl}`,
    'Contracts',
    ...Object.entries(contracts).map(([name, value]) => `  ${name.padEnd(16)}${value}`),
    'Accounts with 10,000 ether each; these keys are public: never use them on another chain',
    ...accounts.map(({ address, privateKey }, index) => `  ${index}  ${address}  ${privateKey}`),
    `Written to ${file}. Ctrl-C ends the chain.`,
  ].join('\n');
}

/** Loads the rest only once the command line is right, so that help and refusals come at once. */
async function run(args: readonly string[]): Promise<void> {
  const { help, json, out: file, devnet: options } = readArguments(args);
  if (help) return console.log(HELP);
  const [{ privateKeyToAddress }, { deployContracts }, { startDevnet }] = await Promise.all([
    import('viem/accounts'),
    import('../deployContracts.ts'),
    import('../startDevnet.ts'),
  ]);
  makeDirectory(dirname(file));
  const devnet = await startDevnet(options);
  const end = () => void devnet.stop();
  process.once('SIGINT', end).once('SIGTERM', end);
  // Ten accounts by default.
  const [privateKey, relayerKey] = [devnet.privateKeys[0]!, devnet.privateKeys[1]!];
  const officialRelayers = [privateKeyToAddress(relayerKey)];
  const deployment = await deployContracts({ rpcUrl: devnet.rpcUrl, privateKey, officialRelayers });
  writeFileSync(file, `${JSON.stringify({ rpcUrl: devnet.rpcUrl, ...deployment }, undefined, 2)}\n`);
  const accounts = devnet.privateKeys.map((key) => ({ address: privateKeyToAddress(key), privateKey: key }));
  const report = { rpcUrl: devnet.rpcUrl, contracts: deployment, accounts, file };
  console.log(json ? JSON.stringify(report) : describe(report));
}

const NOT_STARTED: AnvilStartError['code'] = 'ANVIL_START_FAILED';

/** Says in one sentence what a user can do something about; anything else is a fault of ours. */
function report(error: unknown): void {
  if (!(error instanceof Error)) throw error;
  const isPlain = error instanceof CommandLineError || error instanceof DirectoryError;
  if (!isPlain && !('code' in error && error.code === NOT_STARTED)) throw error;
  console.error(writeFailure(process.argv, error.message));
  process.exitCode = error instanceof CommandLineError ? USAGE_STATUS : 1;
}

if (import.meta.main) await run(process.argv.slice(2)).catch(report);
