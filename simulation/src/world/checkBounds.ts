/** Bounds of what a program takes: calls to nodes, bytes on its disk, and what an honest relayer loses to others. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readRequestExecuted } from '@prism-gateway/contracts';
import type { Address } from 'viem';
import type { MinedTransaction } from '../chain/index.ts';
import { CREDITS_PER_ETH, type World } from './createWorld.ts';
import type { Service } from './programs.ts';

/** Over which stretch calls are counted, in milliseconds. */
const WINDOW_MS = 10 * 60_000;
/** Calls to nodes a minute with nothing to do: of a relayer or watchtower, and of a payment relayer. */
const IDLE_CALLS = 15;
/** Bytes of a journal with nothing in it, with SQLite's write-ahead log. */
const EMPTY_BYTES = 12_000_000;
/** Bytes that a relayer's journals take for a request (docs/relayer.md), and a payment relayer's for a payment. */
const REQUEST_BYTES = 8000;
const PAYMENT_BYTES = 30_000;
const HOUR_MS = 3_600_000;
/** Default loss budgets and one request beyond them, in wei. @see docs/relayer.md, "What it can lose" */
const LOSS_BUDGETS = [
  { ms: HOUR_MS, wei: 105n * 10n ** 15n },
  { ms: 24 * HOUR_MS, wei: 505n * 10n ** 15n },
] as const;

interface Loss {
  readonly atMs: number;
  readonly txHash: string;
  readonly wei: bigint;
}

/** The bytes of a machine's files. */
function sizeOf(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** The keys that a relayer has had: each has journals of its own in its folder. */
function countKeys(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return Math.max(1, names.filter((name) => /relayer-\d+-0x\w+\.db$/.test(name)).length);
}

/** @param report - notes something that does not hold, once */
export function createBoundChecks(world: World, report: (invariant: string, about: string, text: string) => void) {
  const { realm, chain, deployment, relayerKeys, relayers, watchtower, payments, calls, stories, troubles } = world;
  const losses = new Map<string, Loss[]>(relayerKeys.map(({ address }) => [address.toLowerCase(), []]));
  const payers = payments?.installations.flatMap((one) => one.payers.map(({ service }) => service)) ?? [];
  let before = new Map<string, number>();
  let windowFromMs = realm.clock.now();
  /** A start asks more than what follows. */
  let isIdle = false;

  /** The cost of a transaction to its relayer beyond the fees that it brought; less than nothing: it earned. */
  function lossOf({ gasUsed, gasPrice, logs }: MinedTransaction): bigint {
    // As viem has logs.
    const executed = readRequestExecuted({
      logs: logs.map((log) => ({ ...log })) as never,
      forwarder: deployment.forwarder,
    });
    const fees = executed.reduce((sum, { relayerFee }) => sum + relayerFee, 0n);
    return gasUsed * gasPrice - fees / CREDITS_PER_ETH;
  }

  chain.onBlock(({ kind, block }) => {
    for (const transaction of block.transactions) {
      const known = losses.get(transaction.from.toLowerCase());
      if (known === undefined) continue;
      const at = known.findIndex(({ txHash }) => txHash === transaction.hash);
      if (at >= 0) known.splice(at, 1);
      const wei = kind === 'added' ? lossOf(transaction) : 0n;
      if (wei > 0n) known.push({ atMs: realm.clock.now(), txHash: transaction.hash, wei });
    }
  });

  function checkLosses(address: string, known: readonly Loss[]): void {
    for (const { ms, wei } of LOSS_BUDGETS) {
      const recent = known.filter(({ atMs }) => realm.clock.now() - atMs < ms);
      const lost = recent.reduce((sum, one) => sum + one.wei, 0n);
      if (lost > wei)
        report(
          'losses',
          address,
          `An honest relayer has lost ${Number(lost) / 1e18} ether in ${ms / HOUR_MS} h (${recent.length} transactions).`,
        );
    }
  }

  /** Whether anybody has something to do for the programs. */
  function isAnythingOpen(): boolean {
    const isRecent = (endedAtMs: number | undefined) =>
      endedAtMs === undefined || realm.clock.now() - endedAtMs < WINDOW_MS;
    return (
      troubles.size > 0 ||
      world.faults.some(({ toMs }) => isRecent(toMs)) ||
      [...stories.values()].some(({ endedAtMs }) => isRecent(endedAtMs)) ||
      [...(payments?.stories.values() ?? [])].some(({ completedAtMs }) => isRecent(completedAtMs))
    );
  }

  function checkCalls(): void {
    if (isAnythingOpen()) isIdle = false;
    const passedMs = realm.clock.now() - windowFromMs;
    if (passedMs < WINDOW_MS) return;
    for (const { host, name } of [...relayers, watchtower, ...payers]) {
      const made = ((calls.get(host) ?? 0) - (before.get(host) ?? 0)) / (passedMs / 60_000);
      if (isIdle && made > IDLE_CALLS)
        report('calls', name, `${name} makes ${made.toFixed(1)} calls a minute to its nodes with nothing to do.`);
    }
    [before, windowFromMs, isIdle] = [new Map(calls), realm.clock.now(), true];
  }

  function checkDisk({ host, name }: Service, bound: number): void {
    const size = sizeOf(realm.diskOf(host));
    if (size > bound) report('disk', name, `${name} has ${size} bytes on its disk, and ${bound} are enough.`);
  }

  return {
    look(): void {
      for (const [address, known] of losses) checkLosses(address as Address, known);
      checkCalls();
      for (const relayer of relayers) {
        const emptyBytes = countKeys(realm.diskOf(relayer.host)) * EMPTY_BYTES;
        checkDisk(relayer, emptyBytes + stories.size * REQUEST_BYTES);
      }
      for (const payer of payers) checkDisk(payer, EMPTY_BYTES + (payments?.stories.size ?? 0) * PAYMENT_BYTES);
    },
  };
}
