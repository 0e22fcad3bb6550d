/** Receivers of webhooks, run by somebody else, and what has to reach them. */
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { NetworkCall } from '../core/network.ts';
import type { Random } from '../core/random.ts';
import { readWhole } from '../core/web.ts';
import { ADMIN_KEY, type World } from './createWorld.ts';
import type { Story } from './story.ts';

/** The faults of a receiver. One that answers late has taken the message. */
const FAULTS = ['is gone', 'refuses', 'hangs', 'answers 500 late'] as const;

/** A receiver, and the webhook that is registered for it. */
export interface Receiver {
  readonly host: string;
  readonly webhookId: string;
  readonly secret: string;
  fault: (typeof FAULTS)[number] | undefined;
  /** Since when nothing is in the way of its messages, in Unix milliseconds; undefined: something is. */
  calmSinceMs: number | undefined;
  /** Bodies by the id of their message. */
  readonly bodies: Map<string, string>;
  /** Events of each request in the order in which they came first. */
  readonly events: Map<string, string[]>;
}

/** What comes before each event of a request. */
const BEFORE: Readonly<Record<string, readonly (string | undefined)[]>> = {
  'request.created': [undefined],
  'request.claimed': ['request.created', 'request.released', 'request.claimed'],
  'request.released': ['request.claimed', 'request.failed'],
  'request.succeeded': ['request.claimed'],
  'request.failed': ['request.claimed'],
};
const ENDS: Readonly<Record<string, string>> = { success: 'request.succeeded', failed: 'request.failed' };
/** Longest that an event takes to a receiver with nothing in its way, in milliseconds: the longest pause between attempts, and a minute. */
const ARRIVES_MS = 11 * 60_000;
/** How many times longer than other faults receivers are away. */
const LONGER = 20;

type Report = (invariant: string, about: string, text: string) => void;
type Setting = Pick<World, 'realm' | 'restores'>;

/** Registers a webhook for all events, as an operator does. */
export async function addReceiver(host: string): Promise<Receiver> {
  const response = await fetch('http://gateway:8787/admin/webhooks', {
    method: 'POST',
    headers: { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `https://${host}/hook`, events: Object.keys(BEFORE) }),
  });
  const { webhookId, secret } = (await response.json()) as Pick<Receiver, 'webhookId' | 'secret'>;
  return { host, webhookId, secret, fault: undefined, calmSinceMs: undefined, bodies: new Map(), events: new Map() };
}

/** Has a receiver be away, or answer badly, for a while. */
export async function playReceiver(
  receiver: Receiver,
  setting: { random: Random; minutes: number; announce: (text: string) => void },
) {
  const { random, minutes, announce } = setting;
  receiver.fault = random.pick(FAULTS);
  announce(`${receiver.host} ${receiver.fault}`);
  await pause(minutes * 60_000 * (random.chance(0.3) ? LONGER : 1));
  receiver.fault = undefined;
  announce(`${receiver.host} is well again`);
}

/** Serves a receiver, and looks at what comes. */
function serve({ realm, restores }: Setting, receiver: Receiver, report: Report): void {
  const { host, secret, bodies, events } = receiver;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  let known = restores.count;
  /** Requests of before an older copy was put back. */
  const unordered = new Set<string>();

  /** @returns false: it is not signed as the receiver's secret has it */
  function take({ request }: NetworkCall): boolean {
    const [id, time] = [request.headers.get('webhook-id') ?? '', request.headers.get('webhook-timestamp')];
    const body = readWhole(request);
    const signature = `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`;
    if (request.headers.get('webhook-signature') !== signature) return false;
    const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: { readonly requestId: string } };
    const { requestId } = data;
    if ((bodies.get(id) ?? body) !== body) report('webhooks', requestId, `${host} got ${id} with two bodies.`);
    if (bodies.has(id)) return true;
    bodies.set(id, body);
    // An older copy of the gateway goes on from where it was: what it has of before may come again in another way.
    if (restores.count !== known) for (const id of events.keys()) unordered.add(id);
    known = restores.count;
    const earlier = events.get(requestId) ?? [];
    const last = earlier.at(-1);
    if (!BEFORE[type]?.includes(last) && !unordered.has(requestId) && (last !== undefined || known === 0))
      report('webhooks', requestId, `${host} got ${type} after ${last ?? 'nothing'}.`);
    events.set(requestId, [...earlier, type]);
    return true;
  }

  realm.network.listen(`${host}:443`, async (call) => {
    if (receiver.fault === 'is gone') throw new Error('ECONNREFUSED');
    if (receiver.fault === 'hangs') return await new Promise<Response>(() => undefined);
    if (receiver.fault === 'refuses') return new Response(null, { status: 503 });
    const isTaken = take(call);
    if (!isTaken) report('webhooks', host, 'A message was not signed by the secret of its webhook.');
    return new Response(null, { status: isTaken && receiver.fault === undefined ? 200 : 500 });
  });
}

/**
 * Watches what receivers get.
 *
 * @param report - notes something that does not hold, once
 * @returns looks, to be called now and then
 */
export function createReceiverChecks(world: World, report: Report): () => Promise<void> {
  const { realm, receivers, stories, troubles, gateway } = world;
  for (const receiver of receivers) serve(world, receiver, report);

  /** Each request that was posted, and the end of each that has ended, once there was time. */
  function checkArrivals(
    { host, events, calmSinceMs }: Receiver,
    { requestId, postedAtMs, status, endedAtMs }: Story,
  ): void {
    const isDue = (atMs: number) => realm.clock.now() - Math.max(atMs, calmSinceMs ?? atMs) > ARRIVES_MS;
    const arrived = events.get(requestId);
    if (isDue(postedAtMs) && arrived === undefined)
      report('webhooks', requestId, `${host} has not heard of a request.`);
    const end = ENDS[status];
    if (end !== undefined && endedAtMs !== undefined && isDue(endedAtMs) && arrived?.includes(end) === false)
      report('webhooks', requestId, `${host} has not got ${end}.`);
  }

  return async function look() {
    const isCalm = troubles.size === 0 && gateway.isUp();
    for (const receiver of receivers) {
      if (!isCalm || receiver.fault !== undefined) receiver.calmSinceMs = undefined;
      else receiver.calmSinceMs ??= realm.clock.now();
      if (receiver.calmSinceMs === undefined) continue;
      for (const story of stories.values()) checkArrivals(receiver, story);
      const headers = { 'x-admin-key': ADMIN_KEY };
      const read = () => fetch(`http://gateway:8787/admin/webhooks/${receiver.webhookId}`, { headers });
      const answer = await read().catch(() => undefined);
      if (answer?.status !== 200) continue;
      const { enabled, dropped, disabledReason } = (await answer.json()) as {
        readonly enabled: boolean;
        readonly dropped: number;
        readonly disabledReason?: string;
      };
      if (!enabled) report('webhooks', receiver.host, `Its webhook is disabled: ${disabledReason}`);
      if (dropped > 0) report('webhooks', receiver.host, `${dropped} events were dropped.`);
    }
  };
}
