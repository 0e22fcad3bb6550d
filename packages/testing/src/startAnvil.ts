import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

/** The keys of Anvil's well-known mnemonic, `test test test … junk`; they are worth nothing. */
const PRIVATE_KEYS = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
] as const;

export interface AnvilOptions {
  /** Time between blocks, in whole seconds; default: a block for each transaction, at once. */
  readonly blockTimeSeconds?: number;
  /** Blocks only when `evm_mine` or `anvil_mine` is called. */
  readonly isMiningOff?: boolean;
  /** Default 31337. */
  readonly chainId?: number;
  /** Further arguments of the program. */
  readonly args?: readonly string[];
}

/** A running chain of its own. */
export interface Anvil extends AsyncDisposable {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Of accounts with 10,000 ether each. */
  readonly privateKeys: typeof PRIVATE_KEYS;
  /** Makes a JSON-RPC call. @throws Error for an error of the node */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** The program itself, so that killing it kills it. */
function findAnvil(): string {
  const anvil = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  return anvil.resolve(`@foundry-rs/anvil-${process.platform}-${archName()}/bin/anvil`);
}

function archName(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}

/** Waits for the line that names the port. */
async function readPort(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new TypeError('anvil has no output');
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const port = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`anvil ended with ${child.exitCode} instead of listening`);
}

function createRpc(rpcUrl: string): Anvil['rpc'] {
  return async (method, params = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    // Anvil's answers have this form.
    const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
}

/**
 * Starts Anvil on 127.0.0.1 at a free port; it ends with this process.
 *
 * @param options - block time and chain id
 * @returns the running chain, without any contracts
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { chainId = 31_337, blockTimeSeconds, isMiningOff = false, args = [] } = options;
  const blocks = blockTimeSeconds === undefined ? [] : ['--block-time', `${blockTimeSeconds}`];
  const mining = isMiningOff ? ['--no-mining'] : [];
  const child = spawn(
    findAnvil(),
    ['--port', '0', '--host', '127.0.0.1', '--chain-id', `${chainId}`, ...blocks, ...mining, ...args],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const closed = once(child, 'exit');
  const rpcUrl = `http://127.0.0.1:${await readPort(child)}`;
  // What it prints further on is read and dropped, lest the pipe fills.
  child.stdout?.resume();
  const stop = async () => {
    process.off('exit', kill);
    kill();
    await closed;
  };
  return { rpcUrl, chainId, privateKeys: PRIVATE_KEYS, rpc: createRpc(rpcUrl), stop, [Symbol.asyncDispose]: stop };
}
