import type { EventType, Listener, RelayerEvent } from './events.ts';

/** Writes one line of JSON; the message says what happened. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

type Line = readonly [level: keyof Log, message: string];

/** The events that stand in the log as they are. */
const LINES: Partial<Record<EventType, Line>> = {
  'clock-set': ['warn', 'the clock of this machine was set; what waits goes on waiting as if it had not been'],
  'claims-resumed': ['info', 'going on with open requests'],
  'claim-failed': ['warn', 'claim failed'],
  'claim-resumed': ['info', 'claim resumed'],
  'claim-adopted': ['info', 'own claim found at the gateway'],
  'claim-taken-over': ['info', 'claim of another relayer taken over'],
  'claim-released': ['info', 'given back'],
  'claim-unreviewed': ['warn', 'chain did not answer'],
  'evaluation-failed': ['warn', 'not evaluated'],
  'submission-failed': ['warn', 'not sent; checking again'],
  'line-stuck': [
    'info',
    'the next transaction waits for cheaper gas than its fee may offer; nothing else is sent behind it',
  ],
  'line-moves': ['info', 'the next transaction pays for gas again, or has made way'],
  'report-failed': ['warn', 'report failed; trying again'],
  'feed-followed': ['info', 'following the feed'],
  'feed-unread': ['warn', 'the feed cannot be read'],
  'feed-failed': ['error', 'following the feed failed'],
  'batches-unknown': ['info', 'the gateway takes claims and reports one by one'],
  'receipt-forged': ['error', 'a node has made a receipt up; what the others say counts'],
  'key-used-elsewhere': ['warn', 'transactions of the own key that the journal does not know'],
};

/** Those whose line has other facts. @returns the line, and its facts */
function describe(event: RelayerEvent): readonly [Line, object] | undefined {
  switch (event.type) {
    case 'request-reported':
      return [['info', 'reported'], { requestId: event.requestId, ...event.outcome }];
    case 'report-refused': {
      const { requestId, outcome } = event;
      return [['warn', 'not reported: the claim is no longer this relayer’s'], { requestId, ...outcome }];
    }
    case 'outcome-undone': {
      const { requestId, outcome } = event;
      return [['warn', 'not reported: the chain has been reorganised'], { requestId, ...outcome }];
    }
    case 'transaction-mined': {
      const { txHash, status, gasUsed } = event.sent;
      const kind = event.requests > 1 ? 'batch' : 'single';
      return [['info', 'mined'], { txHash, status, kind, requests: event.requests, gasUsed: Number(gasUsed) }];
    }
    case 'budget-exceeded': {
      const { budget, party, lost, limit, untilMs } = event;
      const facts = { budget, party, lost: String(lost), limit: String(limit), until: new Date(untilMs).toISOString() };
      return [['warn', 'a loss budget is used up; its party is left alone'], facts];
    }
    case 'journal-failed': {
      const { reason, requests } = event;
      if (requests === undefined) return [['error', 'the journal fails'], { reason }];
      return [['error', 'the journal cannot be written; trying again'], { reason, requests }];
    }
    case 'work-failed': {
      const { err, requests } = event;
      if (requests === undefined) return [['error', 'work on requests failed'], { err }];
      return [['error', 'work on requests failed; each is tried again by itself'], { err, requests }];
    }
    case 'round-failed': {
      const { where: _, type: __, ...facts } = event;
      return [[facts.code === undefined ? 'error' : 'warn', 'round failed'], facts];
    }
    default:
      return undefined;
  }
}

/** Writes what happens to the log. */
export function logEvents(log: Log): Listener {
  return function writeLine(event) {
    const { type, ...facts } = event;
    const line = LINES[type];
    const [[level, message], shown] = line === undefined ? (describe(event) ?? [[]]) : [line, facts];
    if (level === undefined || message === undefined || shown === undefined) return;
    const { where: _, ...rest } = shown as { readonly where?: string };
    log[level](rest, message);
  };
}
