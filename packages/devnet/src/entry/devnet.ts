/** `npm run devnet`: a development chain on 127.0.0.1:8545 with the contracts deployed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Deployment } from '@prism-gateway/contracts';
import { privateKeyToAddress } from 'viem/accounts';
import { deployContracts } from '../deployContracts.ts';
import { AnvilStartError, type Devnet, startDevnet } from '../startDevnet.ts';

const HELP = `Starts a development chain (Anvil) on 127.0.0.1 and deploys the contracts to it.

  --port N            default 8545; 0 for any free port
  --chain-id N        default 31337
  --block-time-ms N   default: a block a transaction
  --out FILE          where the addresses go as JSON; default data/devnet.json
  --help              this text

Account 0 deploys, owns the contracts and holds credits; account 1 is an official relayer. Ctrl-C ends the chain.`;

/** A fault of the command line, in one sentence. */
class DevnetCommandError extends Error {
  override readonly name = 'DevnetCommandError';
  readonly code = 'DEVNET_COMMAND_FAILED';
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: '8545' },
        'chain-id': { type: 'string', default: '31337' },
        'block-time-ms': { type: 'string' },
        out: { type: 'string', default: 'data/devnet.json' },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    }).values;
  } catch (error) {
    const sentence = error instanceof Error ? error.message : 'The arguments are wrong.';
    throw new DevnetCommandError(`${sentence} Try --help.`, { cause: error });
  }
}

function readNumber(option: string, text: string, range: { readonly least: number; readonly most: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.least && value <= range.most) return value;
  throw new DevnetCommandError(`--${option} takes a whole number from ${range.least} to ${range.most}, not "${text}".`);
}

function readArguments(args: readonly string[]) {
  const values = parse(args);
  const blockTime = values['block-time-ms'];
  return {
    help: values.help,
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

function describe(devnet: Devnet, deployment: Deployment): string {
  const addresses = Object.entries(deployment).map(([name, value]) => `  ${name.padEnd(16)}${value}`);
  const accounts = devnet.privateKeys.map((key, index) => `  ${index}  ${privateKeyToAddress(key)}  ${key}`);
  return [
    `RPC ${devnet.rpcUrl}`,
    'Contracts',
    ...addresses,
    'Accounts with 10,000 ether each; these keys are public: never use them on another chain',
    ...accounts,
  ].join('\n');
}

async function run(args: readonly string[]): Promise<void> {
  const { help, out, devnet: options } = readArguments(args);
  if (help) return console.log(HELP);
  const devnet = await startDevnet(options);
  const end = () => void devnet.stop();
  process.once('SIGINT', end).once('SIGTERM', end);
  // Ten accounts by default.
  const [privateKey, relayerKey] = [devnet.privateKeys[0]!, devnet.privateKeys[1]!];
  const officialRelayers = [privateKeyToAddress(relayerKey)];
  const deployment = await deployContracts({ rpcUrl: devnet.rpcUrl, privateKey, officialRelayers });
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify({ rpcUrl: devnet.rpcUrl, ...deployment }, undefined, 2)}\n`);
  console.log(`${describe(devnet, deployment)}\nWritten to ${out}. Ctrl-C ends the chain.`);
}

/** Says in one sentence what a user can do something about; anything else is a fault of ours. */
function report(error: unknown): void {
  if (!(error instanceof DevnetCommandError || error instanceof AnvilStartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

if (import.meta.main) await run(process.argv.slice(2)).catch(report);
