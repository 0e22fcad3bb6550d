/** The faults of the world, by a schedule that the seed makes. */

import { setTimeout as pause } from 'node:timers/promises';
import { restoreDisk, saveDisk } from '../core/disks.ts';
import type { ChooseFate } from '../core/network.ts';
import { calmFate } from '../core/network.ts';
import { CREDITS_PER_ETH, type FaultSpan, inBackground, type World } from './createWorld.ts';
import { createKeyPlay } from './keyFaults.ts';
import { FAULTS, type Fault } from './kinds.ts';
import { createPaymentPlays } from './payments/paymentFaults.ts';
import { playReceiver } from './receivers.ts';
import { copyGateway } from './restoreGateway.ts';
import { playWhitelist } from './whitelistFaults.ts';

/** How long it is calm between two faults of a kind, on average, in milliseconds. */
const BETWEEN_MS = 40 * 60_000;
const GWEI = 10n ** 9n;
/** How long the world needs to get over a fault, in milliseconds: nodes are asked again, claims are taken up. */
const RECOVERY_MS = 2 * 60_000;
/** By how much a clock may be wrong while all goes on, in seconds: signatures of relayers count for five minutes; and at most. */
const [ACCEPTED_SECONDS, MOST_OFF_SECONDS] = [240, 7200];

/** Starts the faults that were asked for. */
export function startFaults(world: World, faults: ReadonlySet<Fault>): void {
  const { realm, chain, troubles } = world;
  /** Blocks before it were made for the world, and are taken back by nobody. */
  const firstBlock = chain.head().number;

  function announce(text: string): void {
    realm.log.add({ kind: 'fault', who: 'world', text });
  }

  /** Counts what is wrong for as long as it is, and a while after. */
  async function during(name: string, work: () => Promise<void>): Promise<void> {
    troubles.set(name, (troubles.get(name) ?? 0) + 1);
    announce(`${name}: begins`);
    try {
      await work();
    } finally {
      announce(`${name}: ends`);
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

  const { payments } = world;
  const none = async () => undefined;
  const paymentPlays =
    payments === undefined
      ? { cards: none, payers: none }
      : createPaymentPlays({ realm, payments, world, announce, during, random: (name) => random(name) });
  const plays: Readonly<Record<Fault, (minutes: number) => Promise<void>>> = {
    ...paymentPlays,
    keys: createKeyPlay({ world, announce, during, random: () => random('keys') }),
    async whitelist(minutes) {
      await playWhitelist(world, { random: random('whitelist'), minutes, announce });
    },
    async receivers(minutes) {
      if (world.receivers.length === 0) return;
      const from = random('receivers');
      await playReceiver(from.pick(world.receivers), { random: from, minutes, announce });
    },
    /** A device of an app dies, and is started again at once or later. */
    async apps(minutes) {
      if (world.apps.length === 0) return;
      const { service } = random('apps').pick(world.apps);
      service.kill();
      announce(`${service.name} is killed`);
      await pause(random('apps').chance(0.5) ? 1000 : minutes * 60_000);
      await service.start();
    },
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
      announce(`${relayer.name} is killed`);
      await pause(random('kills').chance(0.5) ? 1000 : minutes * 60_000);
      await relayer.start();
    },
    async restarts() {
      const random_ = random('restarts');
      const some = random_.chance(0.5) ? world.relayers : [random_.pick(world.relayers)];
      for (const relayer of some) {
        announce(`${relayer.name} is restarted`);
        await relayer.stop();
        await relayer.start();
      }
    },
    /** A process is stopped, and goes on with what it believed: its machine is moved, or has no memory left. */
    async pauses(minutes) {
      const service = random('pauses').pick([
        world.gateway,
        ...world.services,
        ...world.apps.map(({ service }) => service),
      ]);
      const process = service.process();
      if (process?.isAlive !== true) return;
      await during('paused process', async () => {
        announce(`${service.name} is paused`);
        const resume = realm.pause(process);
        await pause(minutes * 60_000);
        announce(`${service.name} runs on`);
        resume();
      });
    },
    /** A minority of the nodes does wrong. */
    async nodes(minutes) {
      const from = random('nodes');
      const node = from.pick(world.nodes);
      const kind = from.pick(['lags', 'stalls', 'limits', 'withholds logs', 'forgets', 'is stuck']);
      announce(`${node.name} ${kind}`);
      if (kind === 'lags') node.faults.lagBlocks = from.between(1, 20);
      if (kind === 'stalls') node.faults.isStalled = true;
      if (kind === 'limits') node.faults.rateLimit = from.pick(['http', 'json']);
      if (kind === 'withholds logs') node.faults.withholdsLog = () => true;
      if (kind === 'forgets') node.faults.broadcast = from.pick(['keep', 'forget']);
      if (kind === 'is stuck') node.faults.isHeadStuck = true;
      await pause(minutes * 60_000);
      node.heal();
      announce(`${node.name} is well again`);
    },
    /**
     * Everybody wants to be in the next block: blocks are full of others' transactions, which tip more and raise the base fee, until few can
     * pay it; then it stays. They fill the pools too, so that cheap transactions are evicted or refused.
     */
    async fees(minutes) {
      const from = random('fees');
      const before = chain.nextBaseFee();
      const [top, tipPerGas] = [before * BigInt(from.between(3, 30)), GWEI * BigInt(from.between(2, 20))];
      const lasts = from.chance(0.5) ? minutes + from.between(15, 60) : minutes;
      announce(`the base fee rises ${top / before} times, tips to ${tipPerGas / GWEI} gwei, for ${lasts} minutes`);
      const untilMs = realm.clock.now() + lasts * 60_000;
      const { tipPerGas: usualTip, restingBaseFeePerGas = before } = chain.market();
      const press = async () => {
        chain.setMarket({ poolFloorPerGas: chain.nextBaseFee() / 2n });
        await pause(world.options.blockSeconds * 1000);
      };
      chain.setMarket({ restingBaseFeePerGas: top, tipPerGas });
      while (realm.clock.now() < untilMs) await press();
      announce('the base fee falls again');
      chain.setMarket({ restingBaseFeePerGas, tipPerGas: usualTip });
      while (chain.nextBaseFee() > before + before / 10n) await press();
      chain.setMarket({ poolFloorPerGas: 0n });
    },
    async reorgs() {
      const from = random('reorgs');
      const depth = from.chance(0.7) ? from.between(1, 3) : from.between(4, 30);
      if (chain.head().number - depth < firstBlock) return;
      await during('reorganisation', async () => {
        const losesSome = from.chance(0.3);
        announce(`${depth} blocks are taken back`);
        await chain.reorganise({ depth, ...(losesSome && { isLost: () => from.chance(0.3) }) });
        await pause(60_000);
      });
    },
    /** Nodes forget transactions that wait. */
    async pool() {
      const from = random('pool');
      const dropped = chain.pool.drop(() => from.chance(0.5));
      announce(`${dropped} waiting transactions are dropped`);
    },
    async slots(minutes) {
      await during('missed slots', async () => await pause(minutes * 60_000));
    },
    async disks(minutes) {
      const from = random('disks');
      const isFilled = from.chance(0.5);
      // Payments with an older disk are a fault of their own.
      const service = from.pick(isFilled ? world.services : [...world.relayers, world.watchtower]);
      const disk = realm.disks.get(service.host) ?? { isFull: false };
      realm.disks.set(service.host, disk);
      if (isFilled) {
        await during('full disk', async () => {
          announce(`the disk of ${service.host} is full`);
          disk.isFull = true;
          // Longer than a lease and a quarter, now and then.
          await pause(3 * minutes * 60_000);
          disk.isFull = false;
        });
        return;
      }
      const isLost = from.chance(0.4);
      await during(isLost ? 'lost disk' : 'restored disk', async () => {
        const saved = isLost ? new Map<string, Buffer>() : saveDisk(realm.diskOf(service.host));
        const savedMs = isLost ? 0 : realm.clock.now();
        if (!isLost) await pause(minutes * 60_000);
        service.kill();
        announce(`${service.host} ${isLost ? 'loses its files' : `gets its files of ${minutes} minutes ago back`}`);
        restoreDisk(realm.diskOf(service.host), saved);
        disk.lostMs = realm.clock.now();
        // The watchtower was not watching when these lies were told; the next one of each liar counts.
        if (service === world.watchtower)
          for (const [address, sinceMs] of world.lies) if (sinceMs >= savedMs) world.lies.delete(address);
        await service.start();
      });
    },
    /**
     * A machine's clock goes wrong, or that of the only machine, and is set right at one go: a little, so that all goes on, or by up to hours,
     * so that the gateway takes no signatures meanwhile.
     */
    async clocks(minutes) {
      const from = random('clocks');
      const services = [world.gateway, ...world.services, ...world.apps.map(({ service }) => service)];
      const some = from.chance(0.3) ? services : [from.pick(services)];
      const most = from.chance(0.5) ? ACCEPTED_SECONDS : MOST_OFF_SECONDS;
      const offSeconds = from.between(-most, most);
      const which = some.length === 1 ? `the clock of ${some[0]?.host}` : 'every clock';
      const set = (offMs: number) => {
        for (const { host } of some) realm.clockOf(host).offMs = offMs;
      };
      const play = async () => {
        announce(`${which} is ${Math.abs(offSeconds)} s ${offSeconds < 0 ? 'behind' : 'ahead'}`);
        set(offSeconds * 1000);
        await pause(minutes * 60_000);
        announce(`${which} is set right`);
        set(0);
      };
      await (Math.abs(offSeconds) > ACCEPTED_SECONDS ? during('wrong clock', play) : play());
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
      const from = random('gateway');
      await during('gateway down', async () => {
        world.gateway.kill();
        // A proxy before it answers meanwhile, or nobody does.
        const status = from.pick([undefined, 404, 503, 200]);
        const headers = { 'content-type': 'text/html' };
        const answer = (status: number) => async () => new Response('<p>No gateway is here.', { status, headers });
        const close = status === undefined ? undefined : realm.network.listen('gateway:8787', answer(status));
        await pause(from.chance(0.7) ? 2000 : minutes * 60_000);
        close?.();
        await world.gateway.start();
      });
    },
    /** The gateway's operator puts back a copy that is some minutes old. */
    async restores(minutes) {
      const restore = copyGateway(world);
      await pause(minutes * 60_000);
      await during('restored gateway', async () => {
        announce(`the gateway gets its files of ${minutes} minutes ago back`);
        // A snapshot may be back before anybody notices.
        await restore(random('restores').between(0, 30_000));
        await pause(60_000);
      });
    },
  };
  const streams = new Map(FAULTS.map((name) => [name, realm.random.fork(`fault ${name}`)]));
  // Each fault has one.
  const random = (name: Fault) => streams.get(name) as NonNullable<ReturnType<typeof streams.get>>;

  for (const name of faults) {
    inBackground(world, async () => {
      // Some begin at once, so that short lives have faults too.
      for (let least = 0; ; least = BETWEEN_MS / 4) {
        await pause(random(name).between(least, 2 * BETWEEN_MS));
        const span: FaultSpan = { name, fromMs: realm.clock.now() };
        world.faults.push(span);
        await plays[name](random(name).between(1, 15));
        span.toMs = realm.clock.now();
      }
    });
  }
}
