/** Checks the invariants of card payments, again and again. */
import { creditTokenAbi, stablecoinAbi } from '@prism-gateway/contracts';
import { type Address, decodeFunctionResult, encodeFunctionData } from 'viem';
import type { World } from '../createWorld.ts';
import { isWell } from '../isWell.ts';
import { FIRST_BALANCE, type Installation, type Payer, type Payments, payersOf } from './createPayments.ts';
import { isStopped } from './paymentFaults.ts';
import type { PaymentStory } from './story.ts';

/** Longest until a payment is completed with nothing in its way, in milliseconds. */
const PAID_BOUND_MS = 20 * 60_000;
/** Longest until a person is alerted to a payment that waits for one: a channel gets ten messages an hour. */
const TOLD_BOUND_MS = 90 * 60_000;
/** Longest until a person is alerted to any payment that is late, in milliseconds: default `LATE_AFTER_MINUTES`, and time for the message. */
const SILENT_BOUND_MS = 45 * 60_000;
/** How long the books may be wrong while all is well, in milliseconds: two looks at them. */
const BOOKS_BOUND_MS = 120_000;
/** How long the frontend's record may say other than the chain, in milliseconds. */
const RECORD_BOUND_MS = 60 * 60_000;
/** Most that default settings let a payment cost, in gwei. */
const MAX_FEE_WEI = 100n * 10n ** 9n;
/** Credits for one stablecoin base unit at the devnet's rate, in base units. */
const CREDITS = 1000n * 10n ** 12n;
/** Faults of the world that keep payments from going on. */
const IN_THE_WAY = ['bad network', 'reorganisation', 'missed slots', 'payments'];

type Report = (invariant: string, about: string, text: string) => void;

/** @param report - notes something that does not hold, once */
export function createPaymentChecks(world: World, payments: Payments, report: Report) {
  const { realm, chain, nodes, troubles, deployment } = world;
  const { stories, chat, installations } = payments;
  const wrongSince = new Map<string, number>();
  const movesSeen = new Map<string, number>();

  /** Writes into the story what the journals have of it since the last look. */
  function readJournals(story: PaymentStory): void {
    for (const { service } of payersOf(payments)) {
      const moves = service.journal()?.movesOf(story.id) ?? [];
      const key = `${service.name} ${story.id}`;
      const seen = Math.min(movesSeen.get(key) ?? 0, moves.length);
      for (const { atMs, from, to, reason } of moves.slice(seen)) {
        const time = new Date(atMs).toISOString().slice(11, 23);
        const text = `at ${time} ${from ?? 'new'} → ${to}${reason === undefined ? '' : `: ${reason}`}`;
        realm.log.add({ kind: 'journal', who: service.name, text, about: [story.id] });
        story.states.set(service.name, to);
      }
      movesSeen.set(key, moves.length);
    }
  }

  const canPay = ({ service, node }: Payer) =>
    service.isUp() &&
    realm.disks.get(service.host)?.isFull !== true &&
    nodes.some((one) => one.name === node && isWell(one));

  /** Whether nothing keeps an installation from paying. */
  const isCalm = ({ frontend, payers }: Installation) =>
    !IN_THE_WAY.some((name) => troubles.has(name)) &&
    frontend.isWell() &&
    payers.every((payer) => canPay(payer) && !isStopped(payer)) &&
    world.gasPrice() < MAX_FEE_WEI;

  /** Whether a person was alerted to a payment by name, or of late ones since. */
  const isAlerted = ({ id, postedAtMs }: PaymentStory, frontend: string) => {
    const own = installations.find((one) => one.frontend.name === frontend)?.payers ?? [];
    const hosts = own.map(({ service }) => service.host);
    return chat.some(
      ({ from, text, atMs }) =>
        text.includes(id) ||
        (hosts.includes(from) && atMs > postedAtMs && /late|silent|not answer|used elsewhere/i.test(text)),
    );
  };

  function checkPaid(story: PaymentStory): void {
    const { id, payouts, amount, expects } = story;
    if (payouts.length > 1) report('paid once', id, `A payment was paid ${payouts.length} times.`);
    if (payouts.length > 0 && expects === 'refused') report('paid once', id, 'A payment with wrong data was paid.');
    for (const { credits } of payouts) {
      if (credits !== amount * CREDITS)
        report('paid right', id, `${credits} credits were paid, and ${amount * CREDITS} are owed.`);
    }
  }

  function checkEnd(story: PaymentStory, installation: Installation, lookMs: number): void {
    const { id, expects, frontend } = story;
    const ageMs = realm.clock.now() - story.postedAtMs;
    if (story.completedAtMs !== undefined) return;
    if (isCalm(installation)) story.openCalmMs += lookMs;
    const states = [...story.states].map(([name, state]) => `${name}: ${state}`).join(', ') || 'in no journal';
    // Of what an instance has paid that nobody has named, a person has to say whose it is.
    const isForPerson = story.payouts.some(({ from }) => from === payments.unnamed.key.address.toLowerCase());
    if (expects === 'paid' && !isForPerson && story.openCalmMs > PAID_BOUND_MS)
      report('payment ends', id, `A payment is not completed after ${story.openCalmMs / 1000} s (${states}).`);
    if (expects !== 'paid' && ageMs > TOLD_BOUND_MS && !chat.some(({ text }) => text.includes(id)))
      report('payment alerted', id, `Nobody was alerted to a payment that is to be ${expects} (${states}).`);
    if (expects === 'paid' && ageMs > SILENT_BOUND_MS && !isAlerted(story, frontend))
      report(
        'payment alerted',
        id,
        `Nobody was alerted to a payment that is ${Math.round(ageMs / 60_000)} minutes old (${states}).`,
      );
  }

  /** Checks the frontend's record, once the chain had time. */
  function checkRecord({ id, txHash, payouts, states }: PaymentStory): void {
    if (txHash === undefined || payouts.some((payout) => payout.txHash === txHash)) return void wrongSince.delete(id);
    const since = wrongSince.get(id) ?? realm.clock.now();
    wrongSince.set(id, since);
    // After a backup nobody knows the bytes of what a reorganisation undoes: it is held for a person.
    const isInHand = payouts.length > 0 || [...states.values()].includes('held');
    const isKnown = isInHand && chat.some(({ text }) => text.includes(id));
    if (!isKnown && realm.clock.now() - since > RECORD_BOUND_MS)
      report('payment truth', id, `The frontend has ${txHash}, which is not on the chain.`);
  }

  async function readBalance(token: Address, owner: Address): Promise<bigint> {
    const data = encodeFunctionData({ abi: stablecoinAbi, functionName: 'balanceOf', args: [owner] });
    const answer = await chain.call({ to: token, data });
    return decodeFunctionResult({ abi: creditTokenAbi, functionName: 'balanceOf', data: answer });
  }

  /** Sums of an instance's journal. */
  function sumBooks({ service }: Payer) {
    const journal = service.journal();
    if (journal === undefined) return undefined;
    let [spent, bought, paid, open] = [0n, 0n, 0n, 0];
    for (const { paymentIntentId, state } of journal.list()) {
      if (['claimed', 'buying', 'bought', 'transferring', 'transferred', 'vanished'].includes(state)) open++;
      for (const { kind, mined } of journal.attemptsOf(paymentIntentId)) {
        if (kind === 'buy') [spent, bought] = [spent + (mined?.stablecoins ?? 0n), bought + (mined?.credits ?? 0n)];
        else paid += mined?.credits ?? 0n;
      }
    }
    return { spent, bought, paid, open };
  }

  /** Ledger, treasury and chain, when an instance has nothing under way. */
  async function checkBooks(payer: Payer): Promise<void> {
    const { service, key, hasLostBooks } = payer;
    const books = sumBooks(payer);
    const isInTrouble = troubles.has('reorganisation') || troubles.has('payments') || !canPay(payer);
    if (books === undefined || books.open > 0 || isInTrouble) return;
    const own = key.address.toLowerCase();
    const add = (amounts: readonly bigint[]) => amounts.reduce((sum, one) => sum + one, 0n);
    const bought = payments.purchases.filter(({ buyer }) => buyer === own);
    const paid = [...stories.values()].flatMap(({ payouts }) => payouts.filter(({ from }) => from === own));
    const chainSpent = add(bought.map(({ stablecoins }) => stablecoins));
    const chainPaid = add(paid.map(({ credits }) => credits));
    const [stablecoins, credits] = [
      await readBalance(deployment.stablecoin, key.address),
      await readBalance(deployment.creditToken, key.address),
    ];
    const inHand = add(bought.map((one) => one.credits)) - chainPaid;
    const wrong: string[] = [];
    if (stablecoins !== FIRST_BALANCE - chainSpent)
      wrong.push(`has ${stablecoins} stablecoins, and bought for ${chainSpent}`);
    if (credits !== inHand) wrong.push(`has ${credits} credits, and should have ${inHand}`);
    if (!hasLostBooks && books.spent !== chainSpent)
      wrong.push(`has ${books.spent} stablecoins spent in its ledger, the chain ${chainSpent}`);
    if (!hasLostBooks && books.paid !== chainPaid)
      wrong.push(`has ${books.paid} credits paid in its ledger, the chain ${chainPaid}`);
    const since = wrongSince.get(own) ?? realm.clock.now();
    if (wrong.length === 0) return void wrongSince.delete(own);
    wrongSince.set(own, since);
    // What a reorganisation has undone while its node was silent, it sees a moment after.
    if (realm.clock.now() - since >= BOOKS_BOUND_MS)
      for (const text of wrong) report('books', own, `${service.name} ${text}.`);
  }

  async function checkTreasury(): Promise<void> {
    const sum = payments.purchases.reduce((all, { stablecoins }) => all + stablecoins, 0n);
    const treasury = await readBalance(deployment.stablecoin, deployment.treasury);
    if (treasury !== sum)
      report('books', 'treasury', `The treasury has ${treasury} stablecoins, and ${sum} were paid.`);
  }

  return {
    /** @param lookMs - since the last look */
    async look(lookMs: number, looks: number): Promise<void> {
      for (const installation of installations) {
        const rows = new Map(installation.frontend.store.list().map((row) => [row.paymentIntentId, row]));
        for (const story of stories.values()) {
          if (story.frontend !== installation.frontend.name) continue;
          const { txHash } = rows.get(story.id) ?? {};
          if (txHash !== undefined && story.completedAtMs === undefined) story.completedAtMs = realm.clock.now();
          story.txHash = txHash;
          // What has long ended seldom moves.
          const isOpen = realm.clock.now() - (story.completedAtMs ?? Infinity) < RECORD_BOUND_MS;
          if (isOpen || looks % 30 === 0) readJournals(story);
          checkPaid(story);
          checkEnd(story, installation, lookMs);
          checkRecord(story);
        }
        if (looks % 6 === 0) for (const payer of installation.payers) await checkBooks(payer);
      }
      if (looks % 6 === 0) await checkTreasury();
    },
  };
}
