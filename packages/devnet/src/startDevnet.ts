import { type ChildProcess, spawn } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardChild } from '@prism-gateway/node/guard-child';
import type { Hex } from 'viem';
import { HDKey } from 'viem/accounts';
import { toHex } from 'viem/utils';

/** No devnet could be started; `message` says why. */
export class AnvilStartError extends Error {
  override readonly name = 'AnvilStartError';
  readonly code = 'ANVIL_START_FAILED';
}

export interface DevnetOptions {
  /** Port on 127.0.0.1; default 0: any free one. */
  readonly port?: number;
  /** Milliseconds between blocks; absent: each transaction has its block at once. */
  readonly blockTimeMs?: number;
  /** EIP-155 chain id; default 31337. */
  readonly chainId?: number;
  /** Number of funded accounts; default 10. */
  readonly accounts?: number;
  /** Gas limit of a block; default 30,000,000. */
  readonly gasLimit?: number | undefined;
  /** Blocks only when `evm_mine` or `anvil_mine` is called. */
  readonly isMiningOff?: boolean;
  /** Contracts of any size, beyond the 24,576 bytes of EIP-170: for tests. */
  readonly isCodeUnlimited?: boolean | undefined;
  /** Ends the devnet. */
  readonly signal?: AbortSignal;
}

/** A running Anvil: a chain of one node, in memory. */
export interface Devnet extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly process: ChildProcess;
  /** Ends the process; it may be called again. */
  stop(): Promise<void>;
  /** Well-known keys of accounts with 10,000 ether each. */
  readonly privateKeys: readonly Hex[];
}

/** The phrase that development chains have used for years: its keys are public. */
const MNEMONIC = 'test test test test test test test test test test test junk';
const DEFAULT_CHAIN_ID = 31_337;
const DEFAULT_ACCOUNTS = 10;
/** It is up in 0.2 s; a machine under load takes longer. */
const START_TIMEOUT_MS = 30_000;

const arch = { x64: 'amd64', arm64: 'arm64' } as const;
const platform = { linux: 'linux', darwin: 'darwin', win32: 'win32' } as const;

const lookUp = (names: Readonly<Record<string, string>>, key: string) => names[key];

/**
 * Finds Anvil's program. Not its npm wrapper, a script that starts it as a child: that child would survive a kill.
 *
 * @param from - URL of the module that looks
 * @returns path of the binary
 * @throws AnvilStartError `ANVIL_START_FAILED` if it is not installed, or not for this machine
 */
export function findAnvil(from: string = import.meta.url): string {
  const machine = `${lookUp(platform, process.platform)}-${lookUp(arch, process.arch)}`;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  try {
    const wrapper = createRequire(from).resolve('@foundry-rs/anvil/package.json');
    return createRequire(wrapper).resolve(`@foundry-rs/anvil-${machine}/bin/anvil${suffix}`);
  } catch (error) {
    const system = `${process.platform}-${process.arch}`;
    throw new AnvilStartError(
      `Anvil, the development chain's node, is not installed for ${system}: npm install @foundry-rs/anvil, without leaving out optional packages. It is there for Linux and macOS on x64 and arm64, and for Windows on x64.`,
      { cause: error },
    );
  }
}

/**
 * Derives the keys of the first accounts. Node stretches the phrase in 2 ms, viem, in JavaScript, in 100.
 *
 * @see https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki#from-mnemonic-to-seed
 */
function deriveKeys(count: number): readonly Hex[] {
  const seed = pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512');
  const parent = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0");
  return Array.from({ length: count }, (_, index) => {
    const { privateKey } = parent.deriveChild(index);
    if (privateKey === null) throw new Error('a key derived from a phrase has its private part');
    return toHex(privateKey);
  });
}

/**
 * Most blocks whose state Anvil keeps on the disk beside those in its memory, for reads of the past: some megabytes each if many
 * accounts are used, and by default 3,600 of them, in the user's home, for good.
 */
const MAX_STATES_ON_DISK = 256;

function createArguments(options: DevnetOptions, folder: string): readonly string[] {
  const {
    port = 0,
    blockTimeMs,
    chainId = DEFAULT_CHAIN_ID,
    accounts = DEFAULT_ACCOUNTS,
    gasLimit,
    isMiningOff,
    isCodeUnlimited,
  } = options;
  return [
    ...['--host', '127.0.0.1', '--port', `${port}`, '--chain-id', `${chainId}`, '--accounts', `${accounts}`],
    ...['--mnemonic', MNEMONIC],
    ...['--cache-path', folder, '--max-persisted-states', `${MAX_STATES_ON_DISK}`],
    ...(blockTimeMs === undefined ? [] : ['--block-time', `${blockTimeMs / 1000}`]),
    ...(isMiningOff ? ['--no-mining'] : []),
    ...(isCodeUnlimited ? ['--disable-code-size-limit'] : []),
    ...(gasLimit === undefined ? [] : ['--gas-limit', `${gasLimit}`]),
  ];
}

/** Waits for the address that Anvil prints once it listens; what it prints later is read and dropped. */
async function readUrl(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const heard = { stdout: '', stderr: '', isUp: false };
  const fail = () => {
    const reason = signal.aborted ? 'it was stopped, or took too long' : heard.stderr.trim();
    reject(new AnvilStartError(`Anvil did not come up: ${reason}.`));
  };
  // Listeners to the end, not a reader that stops: its log, a line a call, would fill the pipe and halt it. Both are pipes,
  // as `stdio` below says.
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    heard.stderr = text;
  });
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    if (heard.isUp) return;
    heard.stdout += text;
    const address = /^Listening on (127\.0\.0\.1:\d+)$/m.exec(heard.stdout)?.[1];
    if (address === undefined) return;
    heard.isUp = true;
    resolve(`http://${address}`);
  });
  child.once('error', reject).once('close', fail);
  signal.addEventListener('abort', fail, { once: true });
  return await promise.finally(() => signal.removeEventListener('abort', fail));
}

/**
 * Puts a chain's clock right that is behind this machine's. Anvil reads the time twice at its start: in one of fifty a second begins in
 * between, and its clock stays a second behind, so that nothing signed now is open for a second.
 *
 * @param rpcUrl - of an Anvil that answers
 */
export async function catchUpClock(rpcUrl: string): Promise<void> {
  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return Object(await answer.json()).result;
  }
  const seconds = Math.floor(Date.now() / 1000);
  const { timestamp } = Object(await ask('eth_getBlockByNumber', ['pending', false]));
  const behind = seconds - Number(timestamp);
  if (behind > 0) await ask('evm_increaseTime', [behind]);
}

/**
 * Starts Anvil on 127.0.0.1. It ends with this process, however that ends.
 *
 * @returns the running devnet, empty but for its funded accounts
 * @throws AnvilStartError `ANVIL_START_FAILED`
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  options.signal?.throwIfAborted();
  const anvil = findAnvil();
  const folder = await mkdtemp(join(tmpdir(), 'prism-devnet-'));
  const child = spawn(anvil, createArguments(options, folder), { stdio: ['ignore', 'pipe', 'pipe'] });
  const endGuard = guardChild(child, { folder });
  const ended = once(child, 'close')
    .catch(() => undefined)
    .then(() => rm(folder, { recursive: true, force: true }))
    .finally(endGuard);
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
    const rpcUrl = await readUrl(child, options.signal ? AbortSignal.any([options.signal, timeout]) : timeout);
    options.signal?.addEventListener('abort', () => void stop(), { once: true });
    await catchUpClock(rpcUrl);
    const { chainId = DEFAULT_CHAIN_ID, accounts = DEFAULT_ACCOUNTS } = options;
    const privateKeys = deriveKeys(accounts);
    return { rpcUrl, chainId, process: child, stop, privateKeys, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
