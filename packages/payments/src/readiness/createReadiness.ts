import { stablecoinAbi } from '@prism-gateway/contracts';
import type { Logger } from '@prism-gateway/runtime/logs';
import { type Sender, SenderError } from '@prism-gateway/sender';
import { formatGwei, maxUint256, type PublicClient } from 'viem';
import { encodeApproval } from '../chain/marks.ts';
import type { RelayerConfig } from '../flow/relayerConfig.ts';
import { StepError } from '../flow/StepError.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';

/** What readiness is judged by. */
export interface ReadinessParts {
  readonly config: RelayerConfig;
  readonly client: PublicClient;
  readonly sender: Sender;
  readonly journal: PaymentJournal;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What must hold before a payment is begun; each answer serves all payments for some seconds. */
export interface Readiness {
  /**
   * Checks that gas costs no more than it may.
   *
   * @throws StepError `GAS_PRICE_TOO_HIGH`; viem's errors
   * @see docs/specification.md, MAX_FEE_GWEI
   */
  checkGasPrice(): Promise<void>;
  /**
   * Sees to it that the Exchange has an unlimited approval; approves at most once at a time.
   *
   * @throws StepError `APPROVAL_MISSING`; SenderError; viem's errors
   */
  ensureApproval(): Promise<void>;
}

/** Tokens that count an unlimited approval down never get near this. */
const UNLIMITED = maxUint256 / 2n;
/** For how long an answer serves, in milliseconds. */
const FRESH_MS = 5000;

/** Keeps an answer for a while; a failure is not kept, and calls at the same time share one question. */
function keepFresh<Value>(now: () => number, ask: () => Promise<Value>): () => Promise<Value> {
  let kept: { readonly atMs: number; readonly value: Promise<Value> } | undefined;
  return () => {
    if (kept !== undefined && now() - kept.atMs <= FRESH_MS) return kept.value;
    const asked = { atMs: now(), value: ask() };
    kept = asked;
    asked.value.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked.value;
  };
}

/** Approves the Exchange. Each approval that came to an end makes room for another, should it ever be taken back. */
async function approve({ config, journal, sender, signal, log }: ReadinessParts): Promise<void> {
  const { stablecoin, exchange } = config;
  const count = Number(journal.fact('approvals') ?? '0');
  const call = encodeApproval({ stablecoin, exchange });
  log.info({ exchange }, 'approving the Exchange without limit');
  try {
    const sent = await sender.send(`approve:${count + 1}`, call, { confirmations: 1, signal, label: 'approval' });
    journal.setFact('approvals', `${count + 1}`);
    if (sent.status === 'success') return;
  } catch (error) {
    if (error instanceof SenderError && !['CLOSED', 'JOURNAL_FAILED'].includes(error.code)) {
      journal.setFact('approvals', `${count + 1}`);
    }
    throw error;
  }
  throw new StepError('APPROVAL_MISSING', 'The approval of the Exchange was reverted; look at the stablecoin.');
}

/**
 * Creates the judge of readiness.
 *
 * @param parts - chain, sender and journal
 * @returns the judge, which has asked nothing yet
 */
export function createReadiness(parts: ReadinessParts): Readiness {
  const { config, client, now } = parts;
  const { stablecoin, exchange, self, maxGasPrice } = config;
  const readGasPrice = keepFresh(now, () => client.getGasPrice());
  const approveOnce = keepFresh(now, async () => {
    const args = [self, exchange] as const;
    const read = { address: stablecoin, abi: stablecoinAbi, functionName: 'allowance', args } as const;
    if ((await client.readContract(read)) < UNLIMITED) await approve(parts);
  });
  return {
    async checkGasPrice() {
      const price = await readGasPrice();
      if (price <= maxGasPrice) return;
      throw new StepError(
        'GAS_PRICE_TOO_HIGH',
        `Gas costs ${formatGwei(price)} gwei, and may cost ${formatGwei(maxGasPrice)}.`,
      );
    },
    ensureApproval: approveOnce,
  };
}
