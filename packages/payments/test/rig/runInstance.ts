import { openAccount } from '@prism-gateway/node/accounts';
import { type Alert, createOutbox } from '@prism-gateway/node/alerts';
import { createLogRecorder, type LogRecorder } from '@prism-gateway/testing';
import type { PaymentJournal } from '../../src/journal/openPaymentJournal.ts';
import { parseSettings } from '../../src/settings/settings.ts';
import { type PayerParts, type RunningPayer, startPayer } from '../../src/startPayer.ts';

/** A payment relayer in the test's own process. */
export interface RunningInstance {
  readonly relayer: RunningPayer;
  readonly log: LogRecorder;
  readonly alerts: readonly Alert[];
  /** Alerts that could not be written down. */
  readonly reported: readonly Alert[];
  stop(): Promise<void>;
}

/**
 * Runs an instance in this process.
 *
 * @param watch - is given the journal before anything is done
 */
export async function runInstance(
  environment: Readonly<Record<string, string>>,
  watch: (journal: PaymentJournal) => void = () => undefined,
): Promise<RunningInstance> {
  const settings = parseSettings('payments', environment);
  const log = createLogRecorder();
  const alerts: Alert[] = [];
  const reported: Alert[] = [];
  const openAlerter: PayerParts['openAlerter'] = ({ journal, signature }) => {
    watch(journal);
    const { outbox } = journal;
    const alerter = createOutbox({ outbox, channels: [], log, redact: (text) => text, signature, now: Date.now });
    return {
      ...alerter,
      raise(alert) {
        alerter.raise(alert);
        alerts.push(alert);
      },
      notify(alert) {
        alerter.notify(alert);
        reported.push(alert);
      },
    };
  };
  const account = await openAccount({ privateKey: settings.RELAYER_PRIVATE_KEY as `0x${string}` });
  const relayer = await startPayer({ settings, account, openAlerter, log });
  return { relayer, log, alerts, reported, stop: () => relayer.stop(0) };
}
