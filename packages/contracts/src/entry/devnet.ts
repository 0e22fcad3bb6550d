/** `npm run devnet`: a development chain on 127.0.0.1:8545 with the contracts deployed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { privateKeyToAddress } from 'viem/accounts';
import { type Deployment, deployContracts } from '../deployContracts.ts';
import { type Devnet, startDevnet } from '../startDevnet.ts';

const HELP = `Starts a development chain (Anvil) on 127.0.0.1 and deploys the contracts to it.

  --port N            default 8545; 0 for any free port
  --chain-id N        default 31337
  --block-time-ms N   default: a block a transaction
  --out FILE          where the addresses go as JSON; default data/devnet.json
  --help              this text

Account 0 deploys, owns the contracts and holds credits; account 1 is an official relayer. Ctrl-C ends the chain.`;

function readArguments(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string', default: '8545' },
      'chain-id': { type: 'string', default: '31337' },
      'block-time-ms': { type: 'string' },
      out: { type: 'string', default: 'data/devnet.json' },
      help: { type: 'boolean', default: false, short: 'h' },
    },
  });
  const blockTimeMs = values['block-time-ms'];
  return {
    help: values.help,
    out: resolve(values.out),
    devnet: {
      port: Number(values.port),
      chainId: Number(values['chain-id']),
      ...(blockTimeMs === undefined ? {} : { blockTimeMs: Number(blockTimeMs) }),
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

if (import.meta.main) await run(process.argv.slice(2));
