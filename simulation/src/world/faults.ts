/** What goes wrong in the world, by a schedule that the seed makes. */

import { setTimeout as pause } from 'node:timers/promises';
import { restoreDisk, saveDisk } from '../core/disks.ts';
import type { ChooseFate } from '../core/network.ts';
import { calmFate } from '../core/network.ts';
import { CREDITS_PER_ETH, type FaultSpan, inBackground, type World } from './createWorld.ts';

/** Every kind of fault, by the name that `--faults` takes. */
export const FAULTS = [
  'network',
  'kills',
  'restarts',
  'nodes',
  'fees',
  'reorgs',
  'pool',
  'slots',
  'disks',
  'prices',
  'gateway',
] as const;
export type Fault = (typeof FAULTS)[number];

/** How long it is calm between two faults of a kind, on average, in milliseconds. */
const BETWEEN_MS = 40 * 60_000;
/** How long the world needs to get over a fault, in milliseconds: nodes are asked again, claims are taken up. */
const RECOVERY_MS = 2 * 60_000;

/** Starts the faults that were asked for. */
export function startFaults(world: World, faults: ReadonlySet<Fault>): void {
  const { realm, chain, troubles } = world;

  function tell(text: string): void {
    realm.log.add({ kind: 'fault', who: 'world', text });
  }

  /** Counts what is wrong for as long as it is, and a while after. */
  async function during(name: string, work: () => Promise<void>): Promise<void> {
    troubles.set(name, (troubles.get(name) ?? 0) + 1);
    tell(`${name}: begins`);
    try {
      await work();
    } finally {
      tell(`${name}: ends`);
      await pause(RECOVERY_MS);
      const left = (troubles.get(name) ?? 1) - 1;
      if (left === 0) troubles.delete(name);
      else troubles.set(name, left);
    }
  }

  /** Some calls are lost, cut, late or doubled. */
  const badFate: ChooseFate = (call) => {
    const { random } = call;
    const calm = calmFate(call);
    const dice = random.next();
    if (dice < 0.03) return { ...calm, question: { delayMs: 50, end: random.chance(0.5) ? 'lost' : 'reset' } };
    if (dice < 0.06) return { ...calm, answer: { delayMs: 50, end: random.chance(0.5) ? 'lost' : 'reset' } };
    if (dice < 0.1) return { ...calm, answer: { delayMs: random.between(100, 20_000) } };
    if (dice < 0.12) return { ...calm, isDoubled: true };
    return calm;
  };

  const plays: Readonly<Record<Fault, (minutes: number) => Promise<void>>> = {
    async network(minutes) {
      await during('bad network', async () => {
        realm.network.setFate(badFate);
        await pause(minutes * 60_000);
        realm.network.setFate(calmFate);
      });
    },
    /** One relayer dies, and is started again at once or later. */
    async kills(minutes) {
      const relayer = random('kills').pick(world.relayers);
      if (!relayer.isUp()) return;
      if (random('kills').chance(0.3)) {
        const process = relayer.process();
        if (process !== undefined) process.diesAfterCommits = random('kills').between(1, 5);
        await pause(60_000);
      }
      relayer.kill();
      tell(`${relayer.name} is killed`);
      await pause(random('kills').chance(0.5) ? 1000 : minutes * 60_000);
      await relayer.start();
    },
    async restarts() {
      const random_ = random('restarts');
      const some = random_.chance(0.5) ? world.relayers : [random_.pick(world.relayers)];
      for (const relayer of some) {
        tell(`${relayer.name} is restarted`);
        await relayer.stop();
        await relayer.start();
      }
    },
    /** A minority of the nodes does wrong. */
    async nodes(minutes) {
      const from = random('nodes');
      const node = from.pick(world.nodes);
      const kind = from.pick(['lags', 'stalls', 'limits', 'withholds logs', 'forgets', 'is stuck']);
      tell(`${node.name} ${kind}`);
      if (kind === 'lags') node.faults.lagBlocks = from.between(1, 20);
      if (kind === 'stalls') node.faults.isStalled = true;
      if (kind === 'limits') node.faults.rateLimit = from.pick(['http', 'json']);
      if (kind === 'withholds logs') node.faults.withholdsLog = () => true;
      if (kind === 'forgets') node.faults.broadcast = from.pick(['keep', 'forget']);
      if (kind === 'is stuck') node.faults.isHeadStuck = true;
      await pause(minutes * 60_000);
      node.heal();
      tell(`${node.name} is well again`);
    },
    /** The price of gas rises, and falls again. */
    async fees(minutes) {
      const from = random('fees');
      const factor = BigInt(from.between(3, 30));
      const before = chain.nextBaseFee();
      tell(`the base fee rises ${factor} times`);
      const untilMs = realm.clock.now() + minutes * 60_000;
      while (realm.clock.now() < untilMs) {
        chain.setBaseFee(before * factor);
        await pause(world.options.blockSeconds * 1000);
      }
      chain.setBaseFee(before);
      tell('the base fee falls again');
    },
    async reorgs() {
      const from = random('reorgs');
      const depth = from.chance(0.7) ? from.between(1, 3) : from.between(4, 30);
      if (chain.head().number <= depth + 5) return;
      await during('reorganisation', async () => {
        const losesSome = from.chance(0.3);
        tell(`${depth} blocks are taken back`);
        await chain.reorganise({ depth, ...(losesSome && { isLost: () => from.chance(0.3) }) });
        await pause(60_000);
      });
    },
    /** Nodes forget transactions that wait. */
    async pool() {
      const from = random('pool');
      const dropped = chain.pool.drop(() => from.chance(0.5));
      tell(`${dropped} waiting transactions are dropped`);
    },
    async slots(minutes) {
      await during('missed slots', async () => await pause(minutes * 60_000));
    },
    async disks(minutes) {
      const from = random('disks');
      const service = from.pick([...world.relayers, world.watchtower]);
      const disk = realm.disks.get(service.host) ?? { isFull: false };
      realm.disks.set(service.host, disk);
      if (from.chance(0.5)) {
        await during('full disk', async () => {
          tell(`the disk of ${service.host} is full`);
          disk.isFull = true;
          await pause(minutes * 60_000);
          disk.isFull = false;
        });
        return;
      }
      await during('restored disk', async () => {
        const saved = saveDisk(realm.diskOf(service.host));
        await pause(minutes * 60_000);
        service.kill();
        tell(`${service.host} gets its files of ${minutes} minutes ago back`);
        restoreDisk(realm.diskOf(service.host), saved);
        await service.start();
      });
    },
    /** An operator mistypes the price of credits on all relayers, and corrects it. */
    async prices(minutes) {
      const set = async (rate: bigint) => {
        for (const relayer of world.relayers) {
          relayer.environment.CREDITS_PER_ETH = String(rate);
          await relayer.stop();
          await relayer.start();
        }
      };
      await during('wrong price', async () => {
        await set(CREDITS_PER_ETH * 100n);
        await pause(minutes * 60_000);
        await set(CREDITS_PER_ETH);
      });
    },
    async gateway(minutes) {
      await during('gateway down', async () => {
        world.gateway.kill();
        await pause(random('gateway').chance(0.7) ? 2000 : minutes * 60_000);
        await world.gateway.start();
      });
    },
  };
  const streams = new Map(FAULTS.map((name) => [name, realm.random.fork(`fault ${name}`)]));
  // Each fault has one.
  const random = (name: Fault) => streams.get(name) as NonNullable<ReturnType<typeof streams.get>>;

  for (const name of faults) {
    inBackground(world, async () => {
      for (;;) {
        await pause(random(name).between(BETWEEN_MS / 4, 2 * BETWEEN_MS));
        const span: FaultSpan = { name, fromMs: realm.clock.now() };
        world.faults.push(span);
        await plays[name](random(name).between(1, 15));
        span.toMs = realm.clock.now();
      }
    });
  }
}
