import type { Budgets } from '../budgets/createBudgets.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { OpenRequest } from './openRequest.ts';

/** What going on goes through. */
export interface ResumePorts {
  readonly journal: Pick<Journal, 'open'>;
  readonly inFlight: Pick<InFlight, 'take' | 'run'>;
  readonly budgets: Pick<Budgets, 'resume'>;
  readonly state: Pick<ChainState, 'head'>;
  readonly notes: Pick<ChainNotes, 'log'>;
  /** Takes requests on from where the journal has them. */
  readonly advance: (requestIds: readonly string[]) => void;
}

/** What was under way before a restart is still at stake. */
async function resumeStakes({ budgets, state }: ResumePorts, open: readonly OpenRequest[]): Promise<void> {
  // Without a price nothing is claimed either.
  const { gasPrice } = await state.head().catch(() => ({ gasPrice: 0n }));
  for (const { requestId, signatures, gas = 0n } of open) {
    budgets.resume({ requestId, signatures }, { wei: gas * gasPrice, gift: 0n });
  }
}

/**
 * Goes on with everything that the journal holds open: after a start, before anything new is claimed.
 *
 * @param ports - journal, and what is under way: nothing yet
 */
export function resumeOpen(ports: ResumePorts): void {
  const { journal, inFlight, notes, advance } = ports;
  const open = journal.open();
  if (open.length > 0) notes.log.info({ open: open.length }, 'going on with open requests');
  for (const request of open) inFlight.take(request);
  inFlight.run(resumeStakes(ports, open));
  advance(open.map(({ requestId }) => requestId));
}
