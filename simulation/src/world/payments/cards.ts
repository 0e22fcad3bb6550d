/** Customers: they pay by card, each into a wallet of its own. */
import { getAddress, toHex } from 'viem';
import { runAs } from '../../core/processes.ts';
import type { World } from '../createWorld.ts';
import type { Payments } from './createPayments.ts';
import type { PaymentExpectation } from './story.ts';

/** Default `MAX_PAYMENT`, in stablecoin base units. */
const MAX_PAYMENT = 1_000_000_000;

/** Lets card payments arrive, from now on. */
export function startCards(
  { realm }: World,
  payments: Payments,
  { everySeconds }: { readonly everySeconds: number },
): void {
  const random = realm.random.fork('cards');
  let count = 0;

  function pay(): void {
    const { frontend } = random.pick(payments.installations);
    const dice = random.next();
    const expects: PaymentExpectation = dice < 0.03 ? 'held' : dice < 0.06 ? 'refused' : 'paid';
    // In cents, so small that a busy day stays below `DAILY_LIMIT`; now and then one above what an instance pays without being asked.
    const amount =
      expects === 'held' ? random.between(MAX_PAYMENT + 1, 2 * MAX_PAYMENT) : random.between(50, 300) * 10_000;
    const wallet = toHex(random.bytes(20));
    const id = `pi_${(++count).toString().padStart(5, '0')}_${Buffer.from(random.bytes(6)).toString('hex')}`;
    // Wrong in its checksum.
    const checked = getAddress(wallet);
    const walletAddress = expects === 'refused' ? swapCase(checked) : checked;
    frontend.store.add({ paymentIntentId: id, walletAddress, stablecoinAmount: String(amount) });
    const story = {
      ...{ id, frontend: frontend.name, wallet, amount: BigInt(amount), postedAtMs: realm.clock.now(), expects },
      ...{ payouts: [], states: new Map(), completedAtMs: undefined, txHash: undefined, openCalmMs: 0 },
    };
    payments.stories.set(id, story);
    payments.byWallet.set(wallet, story);
    const text = `pays ${(amount / 1e6).toFixed(2)} by card at ${frontend.name} (${expects})`;
    realm.log.add({ kind: 'actor', who: 'customer', text, about: [id] });
  }

  const loop = () => {
    pay();
    realm.clock.at(random.between(1, 2 * everySeconds * 1000), () => runAs(undefined, loop));
  };
  realm.clock.at(1000, () => runAs(undefined, loop));
}

/** @returns the address with each letter in the other case: with one alone it may be all in one case, which has no checksum */
function swapCase(address: string): string {
  const swap = (letter: string) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase());
  return `0x${address.slice(2).replaceAll(/[a-fA-F]/g, swap)}`;
}
