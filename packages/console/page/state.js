// @ts-check
/**
 * Is all well, and if not, what is to be done? The console shows it first, and `prism status` prints it: this is the one place that decides.
 */
import { shorten, writeCount, writeDuration, writePercent } from './format.js';

/** @import { StateParts, Worry } from './types.d.ts' */

/** Beyond what a request that waits, or is held, is worth a look, in milliseconds. */
const [OLD_PENDING_MS, OLD_CLAIM_MS] = [15 * 60_000, 15 * 60_000];
/** Of the requests that ended in the last hour: more failures than this are worth a look, from so many on. */
const [MAX_FAILED_SHARE, LEAST_ENDED] = [0.1, 10];
/** A relayer that holds something and has not called for longer, in milliseconds. */
const SILENT_MS = 5 * 60_000;

/** @param {StateParts['stats']} stats @param {number} now @returns {Worry[]} */
function evaluateQueue({ oldestPendingAt, oldestProcessingAt, minutes }, now) {
  const [success, failed] = [
    minutes.reduce((sum, one) => sum + one.success, 0),
    minutes.reduce((sum, one) => sum + one.failed, 0),
  ];
  const [pendingMs, heldMs] = [oldestPendingAt, oldestProcessingAt].map((at) =>
    at === undefined ? 0 : now - Date.parse(at),
  );
  const share = failed / Math.max(1, success + failed);
  return [
    ...((pendingMs ?? 0) > OLD_PENDING_MS
      ? [
          {
            text: `The oldest pending request has waited for ${writeDuration(pendingMs ?? 0)}`,
            todo: 'see why the relayers leave it',
            view: 'requests',
            query: { status: 'pending', order: 'asc' },
          },
        ]
      : []),
    ...((heldMs ?? 0) > OLD_CLAIM_MS
      ? [
          {
            text: `A relayer has held a request for ${writeDuration(heldMs ?? 0)}`,
            todo: 'release it, if its relayer is gone',
            view: 'requests',
            query: { status: 'processing', order: 'asc' },
          },
        ]
      : []),
    ...(success + failed >= LEAST_ENDED && share > MAX_FAILED_SHARE
      ? [
          {
            text: `${writePercent(share)} of what ended in the last hour has failed`,
            todo: 'look at the reasons',
            view: 'requests',
            query: { status: 'failed' },
          },
        ]
      : []),
  ];
}

/** @param {StateParts} parts @returns {Worry[]} */
function evaluateRelayers({ relayers, stats, now }) {
  const record = new Map(stats.relayers.map((one) => [one.address.toLowerCase(), one]));
  if (relayers.length === 0)
    return [{ text: 'No relayer is on the whitelist', todo: 'add one, or nothing is carried out', view: 'relayers' }];
  return relayers.flatMap(({ address, label, suspendedAt }) => {
    const { openClaims = 0, lastSeenAt } = record.get(address.toLowerCase()) ?? { openClaims: 0 };
    const silentMs = lastSeenAt === undefined ? 0 : now - Date.parse(lastSeenAt);
    const name = label ?? shorten(address);
    if (suspendedAt !== undefined && openClaims > 0)
      return [
        {
          text: `${name} is suspended and holds ${writeCount(openClaims)}`,
          todo: 'release what it holds',
          view: 'relayers',
          id: address,
        },
      ];
    if (suspendedAt === undefined && openClaims > 0 && silentMs > SILENT_MS)
      return [
        {
          text: `${name} holds ${writeCount(openClaims)} and has been silent for ${writeDuration(silentMs)}`,
          todo: 'release what it holds, if it is gone',
          view: 'relayers',
          id: address,
        },
      ];
    return [];
  });
}

/** @type {ReadonlyMap<unknown, string>} */
const VIEWS = new Map([
  ['payments', 'payments'],
  ['gas-monitor', 'monitors'],
  ['watchtower', 'monitors'],
  ['relayer', 'relayers'],
]);

/** @param {StateParts['stats']['programs']} programs @returns {Worry[]} */
function evaluatePrograms(programs) {
  return programs.flatMap(({ name, status, error }) => {
    const view = VIEWS.get(status?.program) ?? 'system';
    if (status === undefined) return [{ text: `${name}: ${error}`, todo: 'see whether it runs', view }];
    const lies = (status.chains ?? []).flatMap(({ findings = [] }) => findings.filter(({ isLie }) => isLie));
    const held = status.counts?.held ?? 0;
    return [
      ...(status.faults ?? []).map((fault) => ({ text: `${name}: ${fault}`, todo: 'see its log', view })),
      ...(status.conditions ?? []).map(({ name: condition }) => ({
        text: `${name}: ${condition}`,
        todo: 'do what its alert says',
        view,
      })),
      ...(lies.length > 0
        ? [
            {
              text: `${name}: ${writeCount(lies.length)} false ${lies.length === 1 ? 'report' : 'reports'} found`,
              todo: 'look at the evidence',
              view,
            },
          ]
        : []),
      ...(held > 0 && (status.conditions ?? []).length === 0
        ? [
            {
              text: `${name}: ${writeCount(held)} ${held === 1 ? 'payment is' : 'payments are'} held`,
              todo: 'decide on each',
              view,
            },
          ]
        : []),
    ];
  });
}

/** @param {StateParts['webhooks']} webhooks @returns {Worry[]} */
const evaluateWebhooks = (webhooks) =>
  webhooks.flatMap(({ webhookId, url, enabled, disabledReason, failingSince }) => {
    if (!enabled && disabledReason !== undefined)
      return [
        {
          text: `The webhook to ${url} is disabled: ${disabledReason}`,
          todo: 'repair the receiver, then enable it',
          view: 'webhooks',
          id: webhookId,
        },
      ];
    if (enabled && failingSince !== undefined)
      return [{ text: `The webhook to ${url} fails`, todo: 'look at its deliveries', view: 'webhooks', id: webhookId }];
    return [];
  });

/**
 * Lists what needs somebody, the most pressing first; empty: all is well.
 *
 * @param {StateParts} parts
 * @returns {readonly Worry[]}
 */
export const evaluateState = (parts) => [
  ...evaluateQueue(parts.stats, parts.now),
  ...evaluateRelayers(parts),
  ...evaluatePrograms(parts.stats.programs),
  ...evaluateWebhooks(parts.webhooks),
];
