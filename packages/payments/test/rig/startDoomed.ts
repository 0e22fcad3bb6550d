import { cpSync } from 'node:fs';
import { type RpcFault, startRpcFaultProxy } from '@prism-gateway/testing';
import { type Address, type Hex, parseTransaction } from 'viem';
import { describeTransaction } from '../../src/chain/describeTransaction.ts';
import type { PaymentJournal } from '../../src/journal/openPaymentJournal.ts';
import type { PaymentState } from '../../src/journal/paymentState.ts';
import { type RunningInstance, runInstance } from './runInstance.ts';
import { startLine } from './startLine.ts';

/** Moves of a payment and broadcasts, before each of which and after each of which an instance can die. */
const STATES = ['claimed', 'buying', 'bought', 'transferring', 'transferred', 'completed'] as const;
const BROADCASTS = ['buy', 'payout'] as const;

/** A point at which an instance dies. */
export interface KillPoint {
  readonly when: 'before' | 'after';
  readonly what: (typeof STATES)[number] | (typeof BROADCASTS)[number];
}

/** All points, in the order of a payment. */
export const KILL_POINTS: readonly KillPoint[] = [...STATES, ...BROADCASTS].flatMap((what) => [
  { when: 'before', what },
  { when: 'after', what },
]);

/** Thrown to a dying instance: it takes nothing more in. */
class KilledError extends Error {
  override readonly name = 'KilledError';
}

/** An instance that dies at a point of its first payment. */
export interface Doomed {
  readonly instance: RunningInstance;
  /** Ends when it has died. */
  readonly died: Promise<void>;
  /** Takes away what is left of it. */
  bury(): Promise<void>;
}

/** The kind of a broadcast. */
function nameBroadcast(raw: Hex, settings: Readonly<Record<string, string>>): 'buy' | 'payout' | 'other' {
  // The sender signs nothing but EIP-1559 transactions.
  const { to = null, data: input = '0x' } = parseTransaction(raw as `0x02${string}`);
  // The settings have been parsed.
  const creditToken = settings.CREDIT_TOKEN_ADDRESS as Address;
  if (describeTransaction({ to, input }, creditToken) !== undefined) return 'payout';
  return to?.toLowerCase() === settings.EXCHANGE_ADDRESS?.toLowerCase() ? 'buy' : 'other';
}

/**
 * Runs an instance until it dies, as by SIGKILL: at that moment its disk is copied, and its lines to node and frontend are cut, so that
 * nothing which it still does can be seen by anybody.
 *
 * @param doom - where it dies; `disk`: the folder that its disk is copied to
 */
export async function startDoomed(
  settings: Readonly<Record<string, string>>,
  doom: { readonly point: KillPoint; readonly disk: string },
): Promise<Doomed> {
  const { point, disk } = doom;
  const { DATA_DIR = '', FRONTEND_URL = '', RPC_URL = '' } = settings;
  const death = Promise.withResolvers<void>();
  const frontend = await startLine(() => FRONTEND_URL);
  let isDead = false;

  function die(): void {
    if (isDead) return;
    isDead = true;
    frontend.cut();
    cpSync(DATA_DIR, disk, { recursive: true });
    death.resolve();
  }

  const isPoint = (when: KillPoint['when'], what: string) => point.when === when && point.what === what;

  function plan(method: string, _: number, [raw]: readonly unknown[]): RpcFault | undefined {
    if (isDead) return { kind: 'dropBefore' };
    if (method !== 'eth_sendRawTransaction') return undefined;
    // The one parameter of this method is the signed transaction.
    const what = nameBroadcast(raw as Hex, settings);
    if (isPoint('before', what)) {
      die();
      return { kind: 'dropBefore' };
    }
    if (!isPoint('after', what)) return undefined;
    return {
      kind: 'change',
      change(hash) {
        die();
        return hash;
      },
    };
  }

  function watch(journal: PaymentJournal): void {
    const { move } = journal;
    Object.assign(journal, {
      move(paymentIntentId: string, to: PaymentState, ...rest: []) {
        if (isPoint('before', to)) die();
        if (isDead) throw new KilledError('it is dead');
        const moved = move(paymentIntentId, to, ...rest);
        if (isPoint('after', to)) die();
        return moved;
      },
    });
  }

  const proxy = await startRpcFaultProxy({ target: RPC_URL, plan });
  const instance = await runInstance({ ...settings, RPC_URL: proxy.url, FRONTEND_URL: frontend.url }, watch);
  return {
    instance,
    died: death.promise,
    async bury() {
      await instance.stop();
      await Promise.all([proxy.stop(), frontend.close()]);
    },
  };
}
