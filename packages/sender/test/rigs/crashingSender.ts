/**
 * A process that opens a sender, sends some intents, and kills itself at a step: before or after a write to the journal, a call to the
 * node, or the telling of an outcome. Started by the crash matrix with its settings as JSON in the first argument; prints how many steps
 * there were when it lives to the end.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { openSender, type SenderEvent } from '../../src/index.ts';
import { badCall, markedCall } from './createSenderRig.ts';

/** The process's settings. */
export interface CrashSettings {
  readonly journalPath: string;
  readonly lockDir: string;
  readonly rpcUrl: string;
  readonly privateKey: Hex;
  readonly intentIds: readonly string[];
  /** The step that it does not outlive; 0: it lives. */
  readonly crashAt: number;
  readonly bumpAfterMs: number;
  readonly confirmations: number;
  /** An intent that the node refuses for good: its gas limit is below that of any transaction. */
  readonly badIntentId?: string | undefined;
  /** Takes the first nonce behind the sender's back. */
  readonly takesNonce?: boolean | undefined;
  /** Events after which a block is asked for, where blocks do not come by themselves. */
  readonly mineOn: readonly SenderEvent['type'][];
}

// The crash matrix wrote it.
const settings = JSON.parse(process.argv[2] ?? '{}') as CrashSettings;
let steps = 0;

function step(): void {
  steps++;
  if (steps === settings.crashAt) process.kill(process.pid, 'SIGKILL');
}

const passOn = globalThis.fetch;

/** Every call to the node is two steps; batches are one call. */
globalThis.fetch = async (...args) => {
  step();
  const response = await passOn(...args);
  const body = await response.text();
  step();
  return new Response(body, response);
};

const execute = DatabaseSync.prototype.exec;
/** Every transaction is two steps. */
DatabaseSync.prototype.exec = function exec(sql) {
  if (sql === 'COMMIT') step();
  execute.call(this, sql);
  if (sql === 'COMMIT') step();
};

/** Past the sender, and no step. */
async function ask(method: string, params: readonly unknown[]): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  await passOn(settings.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

const { journalPath, lockDir, rpcUrl, privateKey, bumpAfterMs, confirmations } = settings;
const account = privateKeyToAccount(privateKey);
const sender = await openSender({
  journalPath,
  lockDir,
  rpcUrl,
  account,
  pollIntervalMs: 10,
  bumpAfterMs,
  confirmations,
  onEvent: (event) => {
    if (settings.mineOn.includes(event.type)) void ask('evm_mine', []);
  },
});
if (settings.takesNonce) {
  const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const transaction = {
    type: 'eip1559',
    chainId: sender.chainId,
    nonce: 0,
    to: account.address,
    gas: 21_000n,
    ...fees,
  } as const;
  await ask('eth_sendRawTransaction', [await account.signTransaction(transaction)]);
}
const { badIntentId, intentIds } = settings;
await Promise.all([
  badIntentId === undefined ? undefined : sender.send(badIntentId, badCall(badIntentId)).catch(() => undefined),
  ...intentIds.map((intentId) => sender.send(intentId, markedCall(intentId))),
]);
step();
await sender.close();
process.stdout.write(`${steps}\n`);
