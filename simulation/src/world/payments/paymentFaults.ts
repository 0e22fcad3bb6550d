/** The faults of card payments, and what operators do about them. */
import { setTimeout as pause } from 'node:timers/promises';
import { runCommand } from '@prism-gateway/payments/commands';
import { restoreDisk, saveDisk } from '../../core/disks.ts';
import type { Random } from '../../core/random.ts';
import type { Realm } from '../../core/realm.ts';
import { inBackground, type World } from '../createWorld.ts';
import { isWell } from '../isWell.ts';
import { createPaymentsService } from '../programs.ts';
import { type Payer, type Payments, payersOf } from './createPayments.ts';

/** How long an operator takes to see to an alert, in milliseconds. */
const OPERATOR_MS = 5 * 60_000;

/** Longest until the gas monitor has alerted to an account that runs dry, in milliseconds: two of its default pauses, and the message. */
const DRY_BOUND_MS = 10 * 60_000;
/** Half of what is warned below by default, in wei. */
const DRY_WEI = 5n * 10n ** 16n;

/** The sources of the faults. */
interface Setting {
  readonly realm: Realm;
  readonly payments: Payments;
  readonly world: World;
  /** Writes down what happens. */
  readonly announce: (text: string) => void;
}

/** Runs a command of the payment relayer on its machine, as its operator. */
async function operate({ realm, announce }: Setting, { service }: Payer, words: readonly string[]): Promise<void> {
  const environment = { ...service.environment, DATA_DIR: realm.diskOf(service.host) };
  const run = () => runCommand([...words, '--who', 'operator'], { environment, print: () => undefined });
  const { process } = await realm.start(`${service.name}-operator`, service.host, run);
  realm.kill(process);
  announce(`operator of ${service.name}: prism payments ${words.join(' ')}`);
}

/** Whether an instance says that its key is used elsewhere, and nobody has said since that it is clear. */
export const isStopped = ({ service }: Payer): boolean => service.journal()?.fact('key: used elsewhere') !== undefined;

/** Until payments go on: somebody reads the alert, and says so to the instance. */
async function resume(setting: Setting, payer: Payer, why: string): Promise<void> {
  const { realm } = setting;
  const untilMs = realm.clock.now() + 2 * OPERATOR_MS;
  while (!isStopped(payer) && realm.clock.now() < untilMs) await pause(10_000);
  if (!isStopped(payer)) return;
  await pause(OPERATOR_MS);
  await operate(setting, payer, ['resume', '--why', why]);
}

/** Sees to an instance that stops later: what it sent before its books were lost may be mined after hours. */
async function attend(setting: Setting, payer: Payer): Promise<void> {
  const isToResume = () => payer.hasLostBooks && isStopped(payer) && !setting.world.troubles.has('payments');
  for (;;) {
    const wasToResume = isToResume();
    await pause(OPERATOR_MS);
    if (wasToResume && isToResume()) await operate(setting, payer, ['resume', '--why', 'its books were lost']);
  }
}

/** Until an instance has a payout on its way: what is lost then hurts most. */
async function untilPaying({ realm }: Setting, { service }: Payer): Promise<void> {
  const untilMs = realm.clock.now() + OPERATOR_MS;
  while (realm.clock.now() < untilMs && !service.journal()?.list(['transferring', 'transferred']).length)
    await pause(500);
}

/** A second process with the same key and settings, on another machine with an empty disk. */
async function playTwin(setting: Setting, payer: Payer, minutes: number): Promise<void> {
  const { realm, announce } = setting;
  const name = `${payer.service.name}-twin`;
  const twin = createPaymentsService(realm, name, {
    ...payer.service.environment,
    LOCK_DIR: realm.diskOf(name),
  });
  payer.hasLostBooks = true;
  await untilPaying(setting, payer);
  announce(`a second process has the key of ${payer.service.name}`);
  await twin.start();
  await pause(minutes * 60_000);
  announce(`the second process of ${payer.service.name} is found and stopped`);
  await twin.stop();
  await resume(setting, payer, 'a second process was stopped');
}

/** An account runs dry: the gas monitor reports it while there is still something left, and an operator fills it up. */
async function playDry({ realm, payments, world, announce }: Setting, { service, key }: Payer): Promise<void> {
  const { chain, nodes, breaches } = world;
  const { clock } = realm;
  const [before, sinceMs] = [chain.balance(key.address), clock.now()];
  chain.fund(key.address, DRY_WEI - before);
  announce(`${service.name} has little ether left`);
  const isAlerted = () =>
    payments.chat.some(
      ({ from, atMs, text }) => from === payments.monitor.host && atMs > sinceMs && text.includes(key.address),
    );
  const isAwake = () => payments.monitor.isUp() && payments.monitor.process()?.paused === undefined;
  const canAlert = () => isAwake() && nodes.every(isWell);
  let isAble = true;
  while (!isAlerted() && clock.now() - sinceMs < DRY_BOUND_MS) {
    isAble &&= canAlert();
    await pause(10_000);
  }
  if (!isAlerted() && isAble)
    breaches.push({
      ...{ invariant: 'gas alerted', about: service.name, atMs: clock.now() },
      text: `The gas monitor has not alerted to ${key.address}, which has ${chain.balance(key.address)} wei.`,
    });
  chain.fund(key.address, before - DRY_WEI);
  announce(`${service.name} is filled up`);
}

/** A second instance with a key of its own, that nobody has named to the first, while the shop forgets claims soon. */
async function playUnnamed({ payments, announce }: Setting, random: Random, minutes: number): Promise<void> {
  const { unnamed, installations } = payments;
  const [plain] = installations;
  if (plain === undefined) return;
  announce(`${unnamed.service.name} serves ${plain.frontend.name} too, and nobody has named it`);
  plain.frontend.faults.leaseMs = random.between(1000, 15_000);
  await unnamed.service.start();
  await pause(minutes * 60_000);
  await unnamed.service.stop();
  plain.frontend.heal();
  announce(`${unnamed.service.name} is stopped`);
}

/**
 * Makes the faults of payments, by the name that `--faults` takes.
 *
 * @param setting.during - counts what is wrong for as long as it is
 */
export function createPaymentPlays(
  setting: Setting & {
    readonly random: (name: 'cards' | 'payers') => Random;
    readonly during: (name: string, work: () => Promise<void>) => Promise<void>;
  },
) {
  const { realm, payments, world, announce, random, during } = setting;
  for (const payer of payersOf(payments)) inBackground(world, () => attend(setting, payer));
  return {
    /** A frontend does wrong. */
    async cards(minutes: number) {
      const from = random('cards');
      const { frontend } = from.pick(payments.installations);
      const kind = from.pick([
        'forgets claims soon',
        'lists twice',
        'refuses completions',
        'takes them late',
        'is down',
      ]);
      announce(`${frontend.name} ${kind}`);
      if (kind === 'forgets claims soon') frontend.faults.leaseMs = from.between(1000, 30_000);
      if (kind === 'lists twice') frontend.faults.listsTwice = true;
      if (kind === 'refuses completions') frontend.faults.completions = 'refused';
      if (kind === 'takes them late') frontend.faults.completions = 'late';
      if (kind === 'is down') frontend.faults.isDown = true;
      // With completions refused, leases end before the frontend knows.
      if (kind === 'refuses completions') frontend.faults.leaseMs = from.between(1000, 60_000);
      await pause(minutes * 60_000);
      frontend.heal();
      announce(`${frontend.name} does right again`);
    },
    /** An instance is killed, restarted, loses its disk or gets an older one back, or its key is used twice. */
    async payers(minutes: number) {
      const from = random('payers');
      const payer = from.pick(payersOf(payments));
      const { service } = payer;
      const kind = from.pick(['kill', 'kill', 'commit', 'restart', 'lost disk', 'backup', 'twin', 'unnamed', 'dry']);
      await during('payments', async () => {
        announce(`${service.name}: ${kind}`);
        if (kind === 'twin') return await playTwin(setting, payer, minutes);
        if (kind === 'dry') return await playDry(setting, payer);
        if (kind === 'unnamed') return await playUnnamed(setting, from, minutes);
        const saved = kind === 'backup' ? saveDisk(realm.diskOf(service.host)) : undefined;
        if (kind === 'backup') await pause(minutes * 60_000);
        if (kind === 'lost disk' || kind === 'backup') await untilPaying(setting, payer);
        const process = service.process();
        if (kind === 'commit' && process !== undefined) {
          process.diesAfterCommits = from.between(1, 8);
          await pause(120_000);
        }
        if (kind === 'restart') await service.stop();
        service.kill();
        if (kind === 'kill') await pause(from.chance(0.5) ? 1000 : minutes * 60_000);
        if (kind === 'lost disk' || saved !== undefined) {
          payer.hasLostBooks = true;
          restoreDisk(realm.diskOf(service.host), saved ?? new Map());
        }
        await service.start();
        if (saved !== undefined) await resume(setting, payer, 'restored');
      });
    },
  };
}
