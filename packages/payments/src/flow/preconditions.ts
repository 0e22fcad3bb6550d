import { stablecoinAbi } from '@prism-gateway/contracts';
import { SenderError } from '@prism-gateway/sender';
import { formatGwei, maxUint256 } from 'viem';
import { encodeApproval } from '../chain/marks.ts';
import type { RelayerContext } from './relayerContext.ts';
import { StepError } from './StepError.ts';

/** Tokens that count an unlimited approval down never get near this. */
const UNLIMITED = maxUint256 / 2n;
/** What is known of the price of gas and of the approval serves all payments of so many milliseconds. */
const FRESH_MS = 5000;

interface Seen {
  gas?: { readonly atMs: number; readonly price: Promise<bigint> };
  approval?: { readonly atMs: number; readonly done: Promise<void> };
}

const seenBy = new WeakMap<RelayerContext, Seen>();

function seenOf(context: RelayerContext): Seen {
  const seen = seenBy.get(context) ?? {};
  seenBy.set(context, seen);
  return seen;
}

/**
 * Checks that gas costs no more than it may.
 *
 * @param context - the instance
 * @throws StepError `GAS_PRICE_TOO_HIGH`; viem's errors
 * @see SPEC.md section 8, MAX_FEE_GWEI
 */
export async function checkGasPrice(context: RelayerContext): Promise<void> {
  const seen = seenOf(context);
  if (seen.gas === undefined || context.now() - seen.gas.atMs > FRESH_MS) {
    const look = { atMs: context.now(), price: context.client.getGasPrice() };
    seen.gas = look;
    look.price.catch(() => {
      if (seen.gas === look) delete seen.gas;
    });
  }
  const price = await seen.gas.price;
  const { maxGasPrice } = context.config;
  if (price <= maxGasPrice) return;
  throw new StepError(
    'GAS_PRICE_TOO_HIGH',
    `Gas costs ${formatGwei(price)} gwei, and may cost ${formatGwei(maxGasPrice)}.`,
  );
}

async function approveOnce(context: RelayerContext): Promise<void> {
  const { client, config, journal, sender, signal, log } = context;
  const { stablecoin, exchange, self } = config;
  const read = { address: stablecoin, abi: stablecoinAbi, functionName: 'allowance', args: [self, exchange] } as const;
  if ((await client.readContract(read)) >= UNLIMITED) return;
  // Each approval that came to an end makes room for another, should it ever be taken back.
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
 * Sees to it that the Exchange has an unlimited approval; asks once in a while, and approves at most once at a time.
 *
 * @param context - the instance
 * @throws StepError `APPROVAL_MISSING`; SenderError; viem's errors
 * @see SPEC.md section 1, "Companion: payment relayer"
 */
export async function ensureApproval(context: RelayerContext): Promise<void> {
  const seen = seenOf(context);
  if (seen.approval === undefined || context.now() - seen.approval.atMs > FRESH_MS) {
    const look = { atMs: context.now(), done: approveOnce(context) };
    seen.approval = look;
    look.done.catch(() => {
      if (seen.approval === look) delete seen.approval;
    });
  }
  await seen.approval.done;
}
