import { creditTokenAbi } from '@prism-gateway/contracts';
import type { Logger } from '@prism-gateway/node/logs';
import { type Sender, SenderError } from '@prism-gateway/sender';
import { type Address, maxUint256, type PublicClient } from 'viem';
import { encodeApproval } from '../chain/calls.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { PayerConfig } from '../payerConfig.ts';
import { StepError } from '../StepError.ts';
import { keepFresh } from './keepFresh.ts';

/** The parts that see to approvals. */
export interface ApprovalParts {
  readonly config: PayerConfig;
  readonly client: PublicClient;
  readonly sender: Sender;
  readonly journal: PaymentJournal;
  readonly log: Logger;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Tokens that count an unlimited approval down never get near this. */
export const UNLIMITED = maxUint256 / 2n;
/** For how long an answer serves, in milliseconds. */
const FRESH_MS = 5000;

/** One approval that must be there. */
interface Approval {
  readonly token: Address;
  readonly spender: Address;
  /** Names its intents at the sender. */
  readonly name: string;
}

/** Sends one approval. Each that came to an end makes room for another, should it ever be taken back. */
async function sendApproval(parts: ApprovalParts, approval: Approval, amount?: bigint): Promise<void> {
  const { journal, sender, signal, log } = parts;
  const { token, spender, name } = approval;
  const fact = name === 'approve' ? 'approvals' : `approvals: ${name}`;
  const count = Number(journal.fact(fact) ?? '0') + 1;
  const call = encodeApproval({ token, spender, ...(amount === undefined ? {} : { amount }) });
  log.info({ token, spender, amount: amount ?? 'unlimited' }, 'approving');
  try {
    const sent = await sender.send(`${name}:${count}`, call, { confirmations: 1, signal, label: 'approval' });
    journal.setFact(fact, `${count}`);
    if (sent.status === 'success') return;
  } catch (error) {
    if (error instanceof SenderError && !['CLOSED', 'JOURNAL_FAILED'].includes(error.code))
      journal.setFact(fact, `${count}`);
    throw error;
  }
  throw new StepError('APPROVAL_MISSING', `The approval of ${spender} was reverted; look at the token ${token}.`);
}

/** Sees to the approvals. */
export interface Approvals {
  /** Sends what is missing, and nobody waits for it. @throws StepError `APPROVAL_MISSING` if that failed the last time */
  begin(): void;
  /** Sends what is missing, and waits for it. */
  ensure(): Promise<void>;
}

/** Creates what sees to the approvals of Exchange and Payouts. */
export function createApprovals(parts: ApprovalParts): Approvals {
  const { client, config, now, log } = parts;
  const { stablecoin, exchange, creditToken, payouts, self } = config;
  const approvals: readonly Approval[] = [
    { token: stablecoin, spender: exchange, name: 'approve' },
    ...(payouts === undefined ? [] : [{ token: creditToken, spender: payouts, name: 'approve payouts' }]),
  ];
  let failure: unknown;

  const readAllowance = ({ token, spender }: Approval) =>
    client.readContract({ address: token, abi: creditTokenAbi, functionName: 'allowance', args: [self, spender] });

  const ensure = keepFresh({ now, freshMs: FRESH_MS }, async () => {
    for (const approval of approvals) {
      const allowance = await readAllowance(approval);
      if (allowance >= UNLIMITED) continue;
      // Some tokens change no allowance but from zero.
      if (allowance > 0n) await sendApproval(parts, approval, 0n);
      await sendApproval(parts, approval);
    }
  });

  return {
    ensure,
    begin() {
      const failed = failure;
      failure = undefined;
      ensure().catch((error: unknown) => {
        failure = error;
        log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'approval failed');
      });
      if (failed !== undefined)
        throw new StepError('APPROVAL_MISSING', failed instanceof Error ? failed.message : 'An approval failed.');
    },
  };
}
