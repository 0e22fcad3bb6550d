import { type Alert, type Alerter, createJournalFault, isJournalFault } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import { type Address, formatEther, formatUnits, type PublicClient } from 'viem';
import { timeOf } from '../cli/describePayments.ts';
import { explainError } from '../explainError.ts';
import type { MonitorMetrics } from './createMonitorMetrics.ts';
import { addSample, estimateReach, type Sample } from './estimateReach.ts';
import type { MonitorStore } from './openMonitorStore.ts';
import { type AccountReading, readAccount, type WatchedTokens } from './readAccount.ts';

/** A chain, and whose accounts are watched on it. */
export interface MonitorTarget {
  readonly name: string;
  readonly client: PublicClient;
  /** Absent: it is not compared. */
  readonly chainId?: number | undefined;
  readonly addresses: readonly Address[];
  readonly tokens?: WatchedTokens | undefined;
  /** The unit of its accounts' work, and the transactions that one takes. */
  readonly unit: { readonly name: 'payments' | 'requests'; readonly transactions: number };
}

/** How a monitor works. */
export interface MonitorOptions {
  readonly targets: readonly MonitorTarget[];
  /** Wei. */
  readonly warnBelow: bigint;
  /** Stablecoin base units. */
  readonly warnStablecoinsBelow: bigint;
  /** A newest block that is older has a node count as silent; 0 = however old. */
  readonly maxHeadAgeMs: number;
  readonly store: MonitorStore;
  readonly alerter: Alerter;
  readonly log: Logger;
  /** Absent: nothing is counted. */
  readonly metrics?: MonitorMetrics;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
  /** `/health` of a payment relayer; absent: none is looked at. */
  readonly healthUrl?: string | undefined;
  /** Takes what each account had last. */
  readonly onReading?: (reading: MonitorReading) => void;
}

/** An account as it was read last, for people. */
export interface MonitorReading {
  readonly chain: string;
  readonly account: Address;
  readonly ether: string;
  readonly stablecoins?: string;
  readonly isApproved?: boolean;
  readonly isLow: boolean;
  /** For how long it lasts, in a sentence. */
  readonly reach: string;
  readonly at: string;
}

/** The kind of message: one alert a crossing, a reminder a day, and a recovery. */
type AlertPhase = 'alert' | 'reminder' | 'recovery';

/** Between two reminders, in milliseconds. */
const REMINDER_MS = 86_400_000;
/** Reads in a row without an answer, then people are alerted; one lost answer is no news. */
const MAX_SILENT_LOOKS = 2;
const STABLECOIN_DECIMALS = 6;
/** Reads in a row without an answer after which the newest block that was seen counts no more: a node may have made it up. */
const FORGET_HEAD_LOOKS = 10;
/** Blocks that a reorganisation, or another node behind the same name, may take back. */
const MAX_STEP_BACK = 64n;
/** How an alert calls a memory that fails, and its end. */
const JOURNAL_WORDS = {
  subject: 'The gas monitor cannot write down its alerts',
  text: 'It goes on to watch and to alert; a restart would forget what it has sent.',
  relief: 'What was sent meanwhile may be sent once more.',
};

function describeReach(samples: readonly Sample[], unit: MonitorTarget['unit']): string {
  const reach = estimateReach(samples);
  if (reach === undefined)
    return `It made no transactions of late, so that nobody knows for how many ${unit.name} it lasts.`;
  const count = Math.floor(reach.transactions / unit.transactions);
  const days = reach.days === undefined ? '' : `, some ${reach.days.toPrecision(2)} days`;
  return `It lasts for about ${count} ${unit.name} at the recent rate${days}.`;
}

/**
 * Creates the monitor.
 *
 * @returns a function that looks at everything once
 * @see docs/specification.md GAS-1
 */
export function createMonitor(options: MonitorOptions): () => Promise<void> {
  const { store, alerter, log, now } = options;
  const { outbox } = store;
  const silentLooks = new Map<string, number>();
  /** The newest block that a chain was seen to have. */
  const heads = new Map<string, bigint>();
  const journalFault = createJournalFault(options, JOURNAL_WORDS);
  /** Messages sent that could not be written down. */
  const unwritten = new Map<string, AlertPhase>();

  /** Writes a message down together with its alert, which reaches people however long their channels are away. */
  function take(watched: Watched, isWell: boolean): void {
    const key = `${watched.kind} ${watched.where}`;
    const raised = outbox.condition(key);
    // A clock that was set back by more does not silence it.
    if (!isWell && raised !== undefined && Math.abs(now() - raised.alertedAtMs) < REMINDER_MS) return;
    if (isWell && raised === undefined) return;
    const phase = isWell ? 'recovery' : raised === undefined ? 'alert' : 'reminder';
    try {
      store.commit(() => {
        if (isWell) outbox.clearCondition(key);
        else outbox.setCondition(key, { sinceMs: raised?.sinceMs ?? now(), alertedAtMs: now() });
        alerter.raise(writeAlert(watched, phase));
      });
      unwritten.delete(key);
    } catch (error) {
      if (!isJournalFault(error)) throw error;
      journalFault.raise(error);
      // It is sent now, and once more when it can be written down.
      if (unwritten.get(key) !== phase) alerter.notify(writeAlert(watched, phase));
      unwritten.set(key, phase);
    }
  }

  /** Keeps recent balances, for estimates only. */
  function keep(write: () => void): void {
    try {
      write();
      journalFault.clear();
    } catch (error) {
      if (!isJournalFault(error)) throw error;
      journalFault.raise(error);
    }
  }

  /** A balance that was low is well again a tenth above its limit: else each payment and each top-up would be an alert. */
  const limitOf = (key: string, limit: bigint) => (outbox.condition(key) === undefined ? limit : (limit * 11n) / 10n);

  function takeReading(target: MonitorTarget, address: Address, reading: AccountReading): void {
    const where = `${address} on ${target.name}`;
    const { balanceWei, nonce, stablecoins, isApproved } = reading;
    options.metrics?.read({ chain: target.name, account: address }, reading);
    const samples = addSample(store.samplesOf(where), { atMs: now(), balanceWei, nonce });
    keep(() => store.setSamples(where, samples));
    const reach = describeReach(samples, target.unit);
    options.onReading?.({
      ...{ chain: target.name, account: address, ether: formatEther(balanceWei), reach, at: timeOf(now()) },
      ...(stablecoins !== undefined && { stablecoins: formatUnits(stablecoins, STABLECOIN_DECIMALS) }),
      ...(isApproved !== undefined && { isApproved }),
      isLow: balanceWei < options.warnBelow,
    });
    log.info({ where, balanceEth: formatEther(balanceWei), stablecoins: `${stablecoins ?? ''}`, reach }, 'balance');
    const gasText = `${formatEther(balanceWei)} ETH; the limit is ${formatEther(options.warnBelow)}. ${reach}`;
    take(
      { kind: 'GAS_BALANCE', where, text: gasText },
      balanceWei >= limitOf(`GAS_BALANCE ${where}`, options.warnBelow),
    );
    if (stablecoins !== undefined) {
      const [has, limit] = [stablecoins, options.warnStablecoinsBelow].map((amount) =>
        formatUnits(amount, STABLECOIN_DECIMALS),
      );
      const text = `${has} stablecoins; the limit is ${limit}.`;
      const least = limitOf(`STABLECOIN_BALANCE ${where}`, options.warnStablecoinsBelow);
      take({ kind: 'STABLECOIN_BALANCE', where, text }, stablecoins >= least);
    }
    if (isApproved) keep(() => store.setApproved(where));
    // A relayer approves before its first payment: until then nothing is missing.
    if (isApproved !== undefined && store.wasApproved(where)) {
      const text = `Its unlimited stablecoin approval ${isApproved ? 'is there' : 'is missing'}.`;
      take({ kind: 'APPROVAL', where, text }, isApproved);
    }
  }

  /** A node that has lost its peers answers on, with the balances of then. @throws Error that says how old its newest block is */
  async function checkAge(client: PublicClient): Promise<void> {
    const { timestamp } = await client.getBlock({ blockTag: 'latest' });
    const ageMs = now() - Number(timestamp) * 1000;
    if (ageMs <= options.maxHeadAgeMs) return;
    throw new Error(`The node stands still: its newest block is ${Math.floor(ageMs / 60_000)} minutes old.`);
  }

  /** Whether a node is at the head of the right chain, as far as it shows. @throws Error that says what is wrong */
  async function checkChain({ name, client, chainId }: MonitorTarget): Promise<void> {
    const [nodeChainId, block] = await Promise.all([
      chainId === undefined ? undefined : client.getChainId(),
      client.getBlockNumber({ cacheTime: 0 }),
    ]);
    if (nodeChainId !== chainId) throw new Error(`The node is of chain ${nodeChainId}, and CHAIN_ID is ${chainId}.`);
    const seen = heads.get(name) ?? 0n;
    if (block < seen - MAX_STEP_BACK)
      throw new Error(`The node is behind: its newest block is ${block}, and ${seen} was seen before.`);
    if (block > seen) heads.set(name, block);
    if (options.maxHeadAgeMs > 0) await checkAge(client);
  }

  async function look(target: MonitorTarget): Promise<void> {
    const watched = { kind: 'RPC', where: target.name } as const;
    try {
      await checkChain(target);
      let fault: string | undefined;
      for (const address of target.addresses) {
        const { client, tokens } = target;
        const reading = await readAccount(client, { address, tokens });
        takeReading(target, address, reading);
        fault ??= reading.tokenFault;
      }
      if (fault !== undefined) throw new Error(fault);
      silentLooks.delete(target.name);
      options.metrics?.looked({ chain: target.name, result: 'answered' });
      take({ ...watched, text: 'Balances are read again.' }, true);
    } catch (error) {
      const looks = (silentLooks.get(target.name) ?? 0) + 1;
      silentLooks.set(target.name, looks);
      if (looks >= FORGET_HEAD_LOOKS) heads.delete(target.name);
      options.metrics?.looked({ chain: target.name, result: 'silent' });
      const reason = explainError(error);
      log.warn({ target: target.name, looks, reason }, 'no answer that can be used');
      if (looks >= MAX_SILENT_LOOKS)
        take({ ...watched, text: `${looks} looks in a row were in vain. ${reason}` }, false);
    }
  }

  /** Looks at the payment relayer: one that is dead, hangs, or waits for an operator. */
  async function lookAtRelayer(url: string): Promise<void> {
    const watched = { kind: 'PAYMENT_RELAYER', where: new URL(url).host } as const;
    const reason = await readHealth(url);
    const looks = reason === undefined ? 0 : (silentLooks.get(url) ?? 0) + 1;
    silentLooks.set(url, looks);
    if (reason === undefined) take({ ...watched, text: 'Its /health is well.' }, true);
    else if (looks >= MAX_SILENT_LOOKS) take({ ...watched, text: reason }, false);
  }

  return async () => {
    const { healthUrl, targets } = options;
    await Promise.all([...targets.map(look), ...(healthUrl === undefined ? [] : [lookAtRelayer(healthUrl)])]);
  };
}

const HEALTH_TIMEOUT_MS = 10_000;
/** Characters shown of a page that says what is wrong. */
const MAX_HEALTH_LENGTH = 1000;

/** A program's fault by its `/health`; undefined: all is well. */
async function readHealth(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    const text = (await response.text()).slice(0, MAX_HEALTH_LENGTH).trim();
    return response.ok ? undefined : `It answers with status ${response.status}: ${text}`;
  } catch {
    return 'It does not answer.';
  }
}

/** The kind of thing that is watched. */
type WatchKind = 'GAS_BALANCE' | 'STABLECOIN_BALANCE' | 'APPROVAL' | 'RPC' | 'PAYMENT_RELAYER';

/** A reading in words. */
interface Watched {
  readonly kind: WatchKind;
  /** Like `0xabc… on base`. */
  readonly where: string;
  /** The value read, the value wanted, and how long it lasts. */
  readonly text: string;
}

const WORDS: Readonly<Record<WatchKind, { readonly bad: string; readonly well: string }>> = {
  GAS_BALANCE: { bad: 'Gas balance low', well: 'Gas balance is well again' },
  STABLECOIN_BALANCE: { bad: 'Stablecoin balance low', well: 'Stablecoin balance is well again' },
  APPROVAL: { bad: 'The Exchange is not approved any more', well: 'The Exchange is approved again' },
  RPC: { bad: 'A node does not answer', well: 'A node answers again' },
  PAYMENT_RELAYER: { bad: 'The payment relayer is not well', well: 'The payment relayer is well again' },
};

/** Of what is not low. */
const CODES: Partial<Record<WatchKind, string>> = {
  RPC: 'RPC_UNREACHABLE',
  PAYMENT_RELAYER: 'PAYMENT_RELAYER_NOT_WELL',
};

/**
 * Writes the alert of a condition.
 *
 * @param phase - whether it is new, a reminder, or over
 */
function writeAlert(watched: Watched, phase: AlertPhase): Alert {
  const { kind, where, text } = watched;
  const { bad, well } = WORDS[kind];
  if (phase === 'recovery') return { code: `${kind}_RECOVERED`, severity: 'info', subject: `${well}: ${where}`, text };
  const subject = phase === 'reminder' ? `Reminder: ${bad.toLowerCase()}: ${where}` : `${bad}: ${where}`;
  return {
    code: CODES[kind] ?? `${kind}_LOW`,
    severity: 'critical',
    subject,
    text,
  };
}
