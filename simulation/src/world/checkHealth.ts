/** Red health if, and only if, an operator has something to do: each program's `/health` is read as a monitor would. */

import type { SimProcess } from '../core/processes.ts';
import { CREDITS_PER_ETH, type World } from './createWorld.ts';
import { isWell } from './isWell.ts';
import type { Payer } from './payments/createPayments.ts';
import { marketFee } from './postRequest.ts';
import type { Service } from './programs.ts';
import type { Story } from './story.ts';
import { isShutOut } from './whitelistFaults.ts';

/** How long a program may take to notice, or to get over, what is wrong, in milliseconds; a rule that pages waits as long. */
const GRACE_MS = 5 * 60_000;
/** How long a program that has just started may take to look for itself, in milliseconds. */
const START_MS = 90_000;
/** How long it may be green meanwhile, in milliseconds: what it has claimed a moment ago, the world sees at a later look. */
const GREEN_MS = 60_000;
/** How long what was wrong may be shown afterwards, in milliseconds: warnings and foreign transactions stand for ten minutes. */
const AFTERWARDS_MS = 20 * 60_000;
/** By how much a relayer's clock may differ from the gateway's, and a second of its way, in milliseconds. */
const CLOCK_MS = 62_000;
/** A monitor gives up waiting, in milliseconds. */
const TIMEOUT_MS = 5000;

interface Watched {
  readonly service: Service;
  readonly url: string;
  /** Its operator's current task; undefined: none that is certain. */
  readonly task: () => string | undefined;
  /** Whether anything at all is wrong around it. */
  readonly isAmiss: () => boolean;
  /** Since when each has been so without a break. */
  redSinceMs: number | undefined;
  greenSinceMs: number | undefined;
  taskSinceMs: number | undefined;
  /** The task at the last look: another trouble has a grace of its own. */
  wanted: string | undefined;
  calmSinceMs: number | undefined;
  said: string;
  process: SimProcess | undefined;
  startedAtMs: number | undefined;
}

/** Of how many signers requests must wait for the same reason, before a relayer takes that for a wrong setting (RELAY-26). */
const RULE_SIGNERS = 3;

/**
 * Customers of a relayer with a valid request that only the price can be in the way of: it pays, and is the first of those that have not
 * ended.
 */
function countWaiting(world: World, { relayer, host }: { readonly relayer: string; readonly host: string }): number {
  const stories = [...world.stories.values()];
  // It knows those of before no more.
  const lostMs = world.realm.disks.get(host)?.lostMs ?? 0;
  const customers = new Set(
    stories.flatMap(({ status, claimedBy, signer, endedAtMs = 0 }) =>
      status === 'success' && claimedBy === relayer && endedAtMs >= lostMs ? [signer] : [],
    ),
  );
  const first = new Map<string, Story>();
  for (const story of stories) {
    const before = first.get(story.signer);
    if (story.endedAtMs === undefined && (before === undefined || story.nonce < before.nonce)) {
      first.set(story.signer, story);
    }
  }
  return [...first.values()].filter(
    ({ status, expects, fee, gas, signer }) =>
      customers.has(signer) && status === 'pending' && expects === 'success' && fee > 2n * marketFee(world, gas),
  ).length;
}

/** Whether a relayer has carried out something just now: what was signed in a fee spike pays at a wrong price, too. */
const takes = ({ stories, realm }: World, relayer: string): boolean =>
  [...stories.values()].some(
    ({ status, claimedBy, endedAtMs = realm.clock.now() }) =>
      claimedBy === relayer &&
      (status === 'processing' || (status === 'success' && realm.clock.now() - endedAtMs < GRACE_MS)),
  );

/** Programs, and what an operator would have to see to. */
function listWatched(world: World): Watched[] {
  const { realm, relayers, watchtower, gateway, nodes, payments, troubles } = world;
  const isFull = ({ host }: Service) => realm.disks.get(host)?.isFull === true;
  const common = (service: Service) => {
    if (isFull(service)) return 'its disk is full';
    if (!gateway.isUp()) return 'the gateway is down';
    // A node that is stuck shows no newest block to compare with.
    if (offMs(service) < -2 * CLOCK_MS && nodes.some(isWell)) return "its clock is behind the chain's";
    return Math.abs(offMs(service) - offMs(gateway)) > CLOCK_MS ? "its clock is not the gateway's" : undefined;
  };
  const isBlind = (service: Service) => nodes.length === 1 && nodes[0]?.faults.isHeadStuck && offMs(service) >= 0;
  const isServing = ({ environment, host }: Service, relayer: string) =>
    environment.CREDITS_PER_ETH === String(CREDITS_PER_ETH) ||
    takes(world, relayer) ||
    countWaiting(world, { relayer, host }) < RULE_SIGNERS;
  const offMs = ({ host }: Service) => realm.clockOf(host).offMs;
  const isAmissAround = () =>
    troubles.size > 0 ||
    world.shutOut.size > 0 ||
    !gateway.isUp() ||
    !nodes.every(isWell) ||
    [gateway, ...world.services].some((service) => offMs(service) !== 0);
  const watch = (service: Service, port: number, rest: Pick<Watched, 'task' | 'isAmiss'>): Watched => ({
    ...{ service, url: `http://${service.host}:${port}/health`, ...rest },
    ...{ redSinceMs: undefined, greenSinceMs: undefined, taskSinceMs: undefined, calmSinceMs: undefined },
    ...{ wanted: undefined, said: '', process: undefined, startedAtMs: undefined },
  });
  const payerTask = ({ service, node }: Payer, frontend: { readonly faults: { readonly isDown: boolean } }) => {
    if (isFull(service)) return 'its disk is full';
    if (frontend.faults.isDown) return 'its frontend is down';
    if (service.journal()?.fact('key: used elsewhere') !== undefined) return 'its key is used elsewhere';
    return nodes.some(({ name, faults }) => name === node && faults.isStalled) ? 'its node does not answer' : undefined;
  };
  return [
    ...relayers.map((service, index) => {
      // Each has a key.
      const address = String(world.relayerKeys[index]?.address).toLowerCase();
      return watch(service, 9464, {
        task() {
          if (isShutOut(world, service)) return 'it may not work';
          const task = common(service) ?? (isBlind(service) ? 'its only node is stuck' : undefined);
          return task ?? (isServing(service, address) ? undefined : 'its price is wrong');
        },
        isAmiss: isAmissAround,
      });
    }),
    watch(watchtower, 9467, { task: () => common(watchtower), isAmiss: isAmissAround }),
    ...(payments?.installations ?? []).flatMap(({ payers, frontend }) =>
      payers.map((payer) =>
        watch(payer.service, 9466, {
          task: () => payerTask(payer, frontend),
          isAmiss: () => isAmissAround() || !frontend.isWell(),
        }),
      ),
    ),
  ];
}

/** @param report - notes something that does not hold, once */
export function createHealthChecks(
  world: World,
  report: (invariant: string, about: string, text: string) => void,
): () => Promise<void> {
  const { clock } = world.realm;
  const watched = listWatched(world);

  async function read({ url }: Watched): Promise<{ readonly isRed: boolean; readonly text: string } | undefined> {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      return { isRed: response.status !== 200, text: (await response.text()).trim().replaceAll('\n', '; ') };
    } catch {
      // Lost on the way, or nobody is there: what restarts it sees that.
      return undefined;
    }
  }

  const lasts = (sinceMs: number | undefined, ms: number) => sinceMs !== undefined && clock.now() - sinceMs > ms;

  async function look(one: Watched): Promise<void> {
    const { service, task, isAmiss } = one;
    const now = clock.now();
    one.calmSinceMs = isAmiss() || !service.isUp() ? undefined : (one.calmSinceMs ?? now);
    if (service.process() !== one.process) Object.assign(one, { process: service.process(), startedAtMs: now });
    const wanted = service.isUp() ? task() : undefined;
    if (wanted !== one.wanted) one.taskSinceMs = wanted === undefined ? undefined : now;
    one.wanted = wanted;
    const answer = await read(one);
    if (answer === undefined) return;
    if (answer.text !== one.said)
      world.realm.log.add({ kind: 'health', who: service.name, text: answer.text, about: [service.name] });
    one.said = answer.text;
    one.redSinceMs = answer.isRed ? (one.redSinceMs ?? now) : undefined;
    one.greenSinceMs = answer.isRed || wanted === undefined ? undefined : (one.greenSinceMs ?? now);
    const hasLooked = lasts(one.startedAtMs, START_MS) && lasts(one.taskSinceMs, GRACE_MS);
    if (wanted !== undefined && lasts(one.greenSinceMs, GREEN_MS) && hasLooked)
      report('health', service.name, `The health of ${service.name} is green although ${wanted}.`);
    if (lasts(one.redSinceMs, GRACE_MS) && lasts(one.calmSinceMs, AFTERWARDS_MS))
      report('health', service.name, `${service.name} is red although nothing is wrong: ${answer.text}`);
  }

  return async () => void (await Promise.all(watched.map(look)));
}
