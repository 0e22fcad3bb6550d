import type { Address } from 'viem';
import type { PaymentsRig, RigKey } from '../../scripts/demo/startPaymentsRig.ts';
import { KEY_FACTS } from '../../src/chain/createKeyWatch.ts';
import { runCommand } from '../../src/cli/runCommand.ts';
import type { PaymentJournal } from '../../src/journal/openPaymentJournal.ts';

/** An instance as an operator sees it. */
export interface Attended {
  readonly key: RigKey;
  readonly folder: string;
  readonly journal: Pick<PaymentJournal, 'fact' | 'list'>;
  /** Whether another process has its key. */
  readonly hasTwin: boolean;
}

/** Runs a command on an instance's folder. */
async function command(argv: readonly string[], folder: string): Promise<void> {
  await runCommand(argv, { environment: { DATA_DIR: folder }, print: () => undefined });
}

/**
 * Does what the documentation has a person do: of two processes with one key one is stopped; one that stands alone is resumed; what is
 * held is released once nothing of the key's waits to be mined and the wallet has nothing.
 *
 * @param seen - the instance, and whose payment it is
 * @returns whether it is to be stopped
 */
export async function playOperator(
  rig: PaymentsRig,
  seen: Attended & { readonly walletAddress: Address },
): Promise<'stop it' | 'leave it'> {
  const { key, folder, journal, hasTwin, walletAddress } = seen;
  if (journal.fact(KEY_FACTS.evidence) !== undefined) {
    if (hasTwin) return 'stop it';
    await command(['resume', '--why', 'nobody else has the key'], folder);
  }
  const held = journal.list(['held']);
  if (held.length === 0) return 'leave it';
  const count = (blockTag: 'latest' | 'pending') => rig.client.getTransactionCount({ address: key.address, blockTag });
  const [latest, pending] = [await count('latest'), await count('pending')];
  if (latest !== pending || (await rig.creditsOf(walletAddress)) !== 0n) return 'leave it';
  for (const { paymentIntentId } of held)
    await command(['release', paymentIntentId, '--why', 'nothing of it is on its way'], folder);
  return 'leave it';
}
