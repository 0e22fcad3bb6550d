// @ts-check
/**
 * A request's story, from the accounts of the gateway, the relayers, the administrators and the webhooks. The console draws it,
 * and `prism requests show` prints it: this is the one place of its words.
 */
import { shorten, writeDuration } from './format.js';

/** @import { StoryEvent, StoryParts, RelayerStory, Tone } from './types.d.ts' */

/** How a relayer's verdicts are said; others are described by what they wait for. @type {ReadonlyMap<string, string>} */
const VERDICTS = new Map([
  ['ready', 'Found fit to be carried out'],
  ['hopeless', 'Found hopeless, to be reported failed'],
]);

/** How an administrator's acts on a request are said. @type {ReadonlyMap<string, string>} */
const ACTS = new Map([
  ['requests.release', 'Given back by an administrator'],
  ['requests.fail', 'Ended as failed by an administrator'],
  ['requests.reopen', 'Put back to pending by an administrator'],
]);

/** @type {ReadonlyMap<string, string>} */
const EVENTS = new Map([
  ['request.created', 'its creation'],
  ['request.claimed', 'its claim'],
  ['request.released', 'its release'],
  ['request.succeeded', 'its success'],
  ['request.failed', 'its failure'],
]);

/** @param {string} wei */
const writeGwei = (wei) => `${(Number(wei) / 1e9).toPrecision(3).replace(/\.?0+$/, '')} gwei`;

/** @param {number} ms */
const iso = (ms) => new Date(ms).toISOString();

/**
 * @param {StoryParts['record']} record @param {(address: string) => string} nameOf
 * @returns {{ begun: StoryEvent[], ended: StoryEvent[] }}
 */
function tellRecord({ createdAt, claimedAt, claimedBy = '', updatedAt, status, txHash, errorMessage = '' }, nameOf) {
  /** @type {StoryEvent[]} */
  const begun = [{ at: createdAt, title: 'Posted', tone: 'plain' }];
  if (claimedAt !== undefined) begun.push({ at: claimedAt, title: `Claimed by ${nameOf(claimedBy)}`, tone: 'busy' });
  /** @type {StoryEvent[]} */
  const ended = [];
  if (status === 'success')
    ended.push({ at: updatedAt, title: 'Reported as success', tone: 'good', ...(txHash && { txHash }) });
  if (status === 'failed') ended.push({ at: updatedAt, title: 'Reported as failed', tone: 'bad', text: errorMessage });
  return { begun, ended };
}

/** The first transaction of a nonce, and what bids more under the same one. @param {RelayerStory} story @param {string} name @returns {StoryEvent[]} */
function tellTransactions({ transactions, submissions }, name) {
  const before = new Map();
  const companions = new Map(submissions.map(({ intentId, requests }) => [intentId, requests]));
  return transactions.flatMap(({ txHash, nonce, kind, maxFeePerGas, signedAtMs, mined, intentId, state, failure }) => {
    const bumps = before.get(nonce) ?? 0;
    before.set(nonce, bumps + 1);
    const title = kind === 'cancel' ? 'Cancelled' : bumps === 0 ? `Submitted by ${name}` : `Fee raised, time ${bumps}`;
    const others = (companions.get(intentId) ?? 1) - 1;
    const text = [
      `At most ${writeGwei(maxFeePerGas)} a unit of gas, account nonce ${nonce}`,
      ...(others > 0 ? [`together with ${others} other ${others === 1 ? 'request' : 'requests'}`] : []),
      ...(failure === undefined ? [] : [`${state}: ${failure}`]),
    ];
    const tone = /** @type {Tone} */ (kind === 'cancel' ? 'bad' : 'busy');
    const signed = { at: iso(signedAtMs), title, tone, text: `${text.join(', ')}.`, txHash };
    if (mined === undefined) return [signed];
    return [signed, { at: iso(mined.atMs), title: `Mined in block ${mined.blockNumber}`, tone, txHash }];
  });
}

/** One relayer's account. @param {RelayerStory} story @param {{ name: string, holds: boolean }} relayer @returns {StoryEvent[]} */
function tellRelayer(story, { name, holds }) {
  const { verdict, moves, request } = story;
  /** @type {StoryEvent[]} */
  const events = [];
  if (verdict !== undefined) {
    const { evaluatedAtMs, waitsFor, message, recheckAtMs } = verdict;
    const why = waitsFor === undefined ? [] : [`It waits for ${waitsFor}.`];
    const again =
      recheckAtMs === undefined
        ? []
        : [`It looks again ${recheckAtMs <= Date.now() ? 'now' : `in ${writeDuration(recheckAtMs - Date.now())}`}.`];
    events.push({
      ...{ at: iso(evaluatedAtMs), tone: waitsFor === undefined ? 'plain' : 'wait' },
      title: waitsFor === undefined ? `${VERDICTS.get(verdict.verdict) ?? 'Evaluated'} by ${name}` : `Left by ${name}`,
      text: [...why, ...(message ? [`${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`] : []), ...again].join(
        ' ',
      ),
    });
  }
  events.push(...tellTransactions(story, name));
  for (const { state, atMs } of moves) {
    if (state === 'claimed' && !holds) events.push({ at: iso(atMs), title: `Claimed by ${name}`, tone: 'busy' });
    if (state === 'lost') events.push({ at: iso(atMs), title: `Given up by ${name}`, tone: 'wait' });
    if (state !== 'finalized') continue;
    const outcome = request?.outcome ?? {};
    if (outcome.status === 'success')
      events.push({
        at: iso(atMs),
        title: story.transactions.some(({ mined }) => mined !== undefined) ? 'Confirmed' : 'Mined and confirmed',
        tone: 'good',
        ...(outcome.txHash && { txHash: outcome.txHash }),
      });
    else
      events.push({
        at: iso(atMs),
        title: `Outcome known to ${name}: failed`,
        tone: 'bad',
        text: outcome.errorMessage ?? '',
      });
  }
  return events;
}

/** @param {StoryParts['deliveries'][number]} delivery @returns {StoryEvent} */
function tellDelivery({ url, event, status, attempts, createdAt, endedAt, nextAttemptAt, lastError, lastStatus }) {
  const what = `${EVENTS.get(event) ?? event} to ${url}`;
  const tries = attempts === 1 ? 'at the first attempt' : `after ${attempts} attempts`;
  const last = lastError ?? (lastStatus === undefined ? '' : `It answered ${lastStatus}.`);
  if (status === 'delivered')
    return { at: endedAt ?? createdAt, title: 'Webhook delivered', tone: 'good', text: `Sent ${what}, ${tries}.` };
  if (status === 'failed')
    return {
      at: endedAt ?? createdAt,
      title: 'Webhook failed',
      tone: 'bad',
      text: `Not sent: ${what}, ${tries}. ${last}`,
    };
  return { at: nextAttemptAt ?? createdAt, title: 'Webhook waits', tone: 'wait', text: `To send ${what}. ${last}` };
}

/**
 * Lists the story of a request.
 *
 * @param {StoryParts} parts
 * @returns {readonly StoryEvent[]} oldest first
 */
export function describeStory({ record, programs, acts, deliveries, labels }) {
  const nameOf = (/** @type {string} */ address) => labels.get(address.toLowerCase()) ?? shorten(address);
  const relayers = programs.flatMap(({ name, status }) =>
    (status?.chains ?? []).flatMap(({ story }) => {
      if (story === undefined) return [];
      const address = String(status?.relayer ?? '');
      const holds = record.claimedBy?.toLowerCase() === address.toLowerCase();
      return tellRelayer(story, { name: address === '' ? name : nameOf(address), holds });
    }),
  );
  const done = acts.flatMap(({ at, act, keyId, reason }) => {
    const title = ACTS.get(act);
    return title === undefined
      ? []
      : [{ at, title, tone: /** @type {Tone} */ ('admin'), text: `Key ${keyId}${reason ? `: ${reason}` : ''}` }];
  });
  const { begun, ended } = tellRecord(record, nameOf);
  // Of one moment, in the order in which they come about.
  const all = [...begun, ...relayers, ...done, ...ended, ...deliveries.map(tellDelivery)];
  return all.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

/**
 * Says in a sentence where a request stands now.
 *
 * @param {StoryParts} parts @param {number} now
 */
export function describeNow({ record, programs, labels }, now) {
  const { status, createdAt, claimedAt, claimedBy = '', updatedAt } = record;
  const since = (/** @type {string | undefined} */ time, end = now) => writeDuration(end - Date.parse(time ?? ''));
  if (status === 'success') return `Carried out ${since(createdAt, Date.parse(updatedAt))} after it was posted.`;
  if (status === 'failed') return `Failed ${since(createdAt, Date.parse(updatedAt))} after it was posted.`;
  const name = labels.get(claimedBy.toLowerCase()) ?? shorten(claimedBy);
  if (status === 'processing') return `${name} has held it for ${since(claimedAt)}.`;
  const waits = programs.flatMap(({ status: shown }) =>
    (shown?.chains ?? []).flatMap(({ story }) => story?.verdict?.waitsFor ?? []),
  );
  return `It has waited for ${since(createdAt)}${waits.length === 0 ? ', and no relayer has said why.' : `: for ${[...new Set(waits)].join('; for ')}.`}`;
}
