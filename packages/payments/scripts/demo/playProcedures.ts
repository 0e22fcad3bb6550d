import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { creditTokenAbi } from '@prism-gateway/contracts';
import { bareExchangeAbi, bareExchangeBytecode } from '@prism-gateway/devnet/test-tokens';
import { type Program, startProgram } from '@prism-gateway/testing/world';
import { KEY_FACTS } from '../../src/chain/createKeyWatch.ts';
import { runCommand } from '../../src/cli/runCommand.ts';
import { openPaymentJournal, type PaymentJournal } from '../../src/journal/openPaymentJournal.ts';
import { OPEN_STATES } from '../../src/journal/paymentState.ts';
import { computeCreditsOwed } from '../../src/payments/computeCredits.ts';
import { attend } from './attend.ts';
import { PROCEDURES } from './procedures.ts';
import type { PaymentsRig, RigKey } from './startPaymentsRig.ts';
import { waitUntil } from './waitUntil.ts';

const RATE = 1000n;
const AMOUNT = 3_000_000n;
const PATIENCE_MS = 120_000;
const LOOK_MS = 250;
/** Procedures under way at a time; each has processes of its own. */
const LANES = 5;
/** What a journal tells of a payment that another process with its key has paid. */
const PAID_BY_TWIN = /0x[0-9a-f]{64} has paid it, and it is [a-z ]+ in the journal/;

/** How a procedure ended. */
export interface PlayedProcedure {
  readonly name: string;
  readonly isRight: boolean;
}

/** A process, and its folder. */
interface Machine {
  readonly program: Program;
  readonly key: RigKey;
  readonly folder: string;
}

/** Looks into the journal of a process that is at work. */
function look<Result>(folder: string, read: (journal: PaymentJournal) => Result): Result {
  const journal = openPaymentJournal({ file: join(folder, 'payments.db'), now: Date.now });
  try {
    return read(journal);
  } finally {
    journal.close();
  }
}

async function waitFor(folder: string, holds: (journal: PaymentJournal) => boolean): Promise<void> {
  const isSo = async () => {
    await pause(LOOK_MS);
    try {
      return look(folder, holds);
    } catch {
      // Its folder is made by the process, which has just started.
      return false;
    }
  };
  await waitUntil(isSo, { timeoutMs: PATIENCE_MS, what: `the journal in ${folder} does not come so far` });
}

const isSettled = (journal: PaymentJournal) => journal.fact(KEY_FACTS.next) !== undefined;

/** Kills an instance whose payout is journalled, plays a procedure, and compares with the chain. */
async function playOne(
  rig: PaymentsRig,
  params: { readonly name: string; readonly otherExchange: string },
): Promise<boolean> {
  const { name, otherExchange } = params;
  const [key, other, frontend] = [await rig.fundKey(), await rig.fundKey(), await rig.startFrontend()];
  const fromBlock = await rig.client.getBlockNumber({ cacheTime: 0 });
  const procedure = PROCEDURES[name];
  const payouts = () => rig.deployPayouts([key.address, other.address]);
  const contract = procedure?.needsContract ? { PAYOUTS_ADDRESS: await payouts() } : {};
  let folders = 0;
  const newFolder = () => join(rig.dir, `${name.replaceAll(' ', '-')}-${++folders}`);
  const machines: Machine[] = [];
  const settingsOf = (owner: RigKey, folder: string, more: Readonly<Record<string, string>> = {}) => ({
    ...rig.settingsFor(owner, [], frontend),
    DATA_DIR: folder,
    LOCK_DIR: join(folder, 'locks'),
    SEARCH_FROM_BLOCK: `${fromBlock}`,
    RPC_TIMEOUT_MS: '3000',
    LOG_LEVEL: 'info',
    ...contract,
    ...more,
  });
  const start = async (owner: RigKey, folder: string, more: Readonly<Record<string, string>> = {}) => {
    const program = await startProgram('payments', { env: settingsOf(owner, folder, more) });
    machines.push({ program, key: owner, folder });
  };
  const [first, disk, backup] = [newFolder(), newFolder(), newFolder()];
  const doomed = await startProgram('payments', { env: settingsOf(key, first) });
  await waitFor(first, isSettled);
  await runCommand(['backup', backup], { environment: { DATA_DIR: first }, print: () => undefined });
  const { walletAddress } = rig.addPayment(AMOUNT, frontend);
  await waitFor(first, (journal) => journal.list(['transferring', 'transferred', 'completed']).length > 0);
  await doomed.kill();
  cpSync(first, disk, { recursive: true });
  try {
    await procedure?.({
      key,
      disk,
      backup,
      otherExchange,
      payouts,
      otherKey: async () => other,
      newFolder,
      start,
      async runIdle(owner, folder, more = {}) {
        const nobody = await rig.startFrontend();
        const idle = await startProgram('payments', {
          env: settingsOf(owner, folder, { ...more, FRONTEND_URL: nobody.url }),
        });
        await waitFor(folder, isSettled);
        await idle.stop();
        await nobody.close();
      },
    });
    for (const { folder } of machines) await waitFor(folder, () => true);
    const isDone = async () => {
      await pause(LOOK_MS);
      const isTold = frontend.store.list().every(({ txHash }) => txHash !== undefined);
      const isAtRest = machines.every(({ folder }) =>
        look(folder, (journal) => journal.list(OPEN_STATES).length === 0),
      );
      if (isTold && isAtRest) return true;
      for (const machine of [...machines]) {
        const hasTwin = machines.some((twin) => twin !== machine && twin.key === machine.key);
        const journal = openPaymentJournal({ file: join(machine.folder, 'payments.db'), now: Date.now });
        const advice = await attend(rig, { ...machine, journal, hasTwin, walletAddress }).finally(() =>
          journal.close(),
        );
        if (advice === 'leave it') continue;
        await machine.program.stop();
        machines.splice(machines.indexOf(machine), 1);
      }
      return false;
    };
    await waitUntil(isDone, { timeoutMs: PATIENCE_MS, what: `${name}: not paid` });
    const { creditToken: address } = rig.deployment;
    const transfers = { address, abi: creditTokenAbi, eventName: 'Transfer', args: { to: walletAddress } } as const;
    const paid = await rig.client.getContractEvents({ ...transfers, fromBlock });
    const isPaidOnce = paid.length === 1 && paid[0]?.args.value === computeCreditsOwed(AMOUNT, RATE);
    const books = await Promise.all(
      machines.map(async ({ key: owner, folder }) => {
        const lines: string[] = [];
        const environment = settingsOf(owner, folder);
        const code = await runCommand(['reconcile', '--json'], { environment, print: (line) => void lines.push(line) });
        return { owner, code, differences: JSON.parse(lines.join('\n')) as readonly unknown[] };
      }),
    );
    // Of two with one key, the other's journal rightly tells that the key has paid what it has not, and nothing else.
    const isRight = ({ differences }: (typeof books)[number]) =>
      differences.every((difference) => PAID_BY_TWIN.test(JSON.stringify(difference)));
    const ofEach = [...Map.groupBy(books, ({ owner }) => owner).values()];
    return isPaidOnce && ofEach.every((twins) => twins.every(isRight) && twins.some(({ code }) => code === 0));
  } finally {
    await Promise.all(machines.map(({ program }) => program.stop()));
    await frontend.close();
  }
}

/**
 * Plays one of each: an instance is killed while its payout is on its way, and an operator does what the documentation says, or makes a
 * mistake. The chain says how often each payment was paid, and the books must agree.
 *
 * @param rig - chain and contracts
 * @param tell - takes a line about each
 * @returns how each ended
 */
export async function playProcedures(
  rig: PaymentsRig,
  tell: (line: string) => void,
): Promise<readonly PlayedProcedure[]> {
  const { creditToken, stablecoin } = rig.deployment;
  const args = [stablecoin, creditToken, RATE];
  const otherExchange = await rig.deploy({ abi: bareExchangeAbi, bytecode: bareExchangeBytecode, args });
  await rig.giveCredits(otherExchange, 10n ** 24n);
  const names = Object.keys(PROCEDURES);
  const played: PlayedProcedure[] = [];
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let name = names.shift(); name !== undefined; name = names.shift()) {
        const isRight = await playOne(rig, { name, otherExchange });
        tell(`killed while it pays, then: ${name}: ${isRight ? 'paid once, the books agree' : 'WRONG'}`);
        played.push({ name, isRight });
      }
    }),
  );
  return played;
}
