import { resumePayments } from '../flow/drivePayment.ts';
import type { PayerContext } from '../flow/payerContext.ts';
import type { Underway } from './createUnderway.ts';

/** Takes up what the journal holds. */
export interface Resumption {
  /**
   * Takes it up once, when it is known what the key has done; while it is not, that is found out beside.
   *
   * @throws what has kept it from being found out, once each time
   */
  resume(): boolean;
  /** Ends once nothing is being found out. */
  idle(): Promise<void>;
}

/** Makes what takes up the payments of the last start. */
export function createResumption(context: PayerContext, { follow }: Pick<Underway, 'follow'>): Resumption {
  let resolving: Promise<void> | undefined;
  let fault: { readonly error: unknown } | undefined;
  let isResumed = false;

  function startResolving(): void {
    resolving ??= context
      .resolveKey()
      .catch((error: unknown) => {
        fault = { error };
      })
      .finally(() => {
        resolving = undefined;
      });
  }

  function throwFault(): void {
    const found = fault;
    fault = undefined;
    if (found !== undefined) throw found.error;
  }

  return {
    resume() {
      if (context.watch.state() === 'unresolved') {
        startResolving();
        throwFault();
        return false;
      }
      if (!isResumed) resumePayments(context, follow);
      isResumed = true;
      return true;
    },
    idle: async () => await resolving,
  };
}
