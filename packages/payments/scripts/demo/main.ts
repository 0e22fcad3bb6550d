/**
 * `npx prism demo:payments`: two installations, one of two payment relayers that pay through `Payouts` and are killed at the worst moments, and
 * one of a single relayer that pays by plain transfers; a gas monitor; at the end the ledgers and a reconciliation. All real.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startChatReceiver, startMailServer } from '@prism-gateway/testing';
import { type Program, startProgram } from '@prism-gateway/testing/world';
import { type Address, formatUnits, type Hash } from 'viem';
import { computeCreditsOwed } from '../../src/amounts/computeCredits.ts';
import { payoutIdOf } from '../../src/chain/calls.ts';
import { runCommand } from '../../src/cli/runCommand.ts';
import { openPaymentJournal } from '../../src/journal/openPaymentJournal.ts';
import type { PaymentState } from '../../src/journal/paymentState.ts';
import type { ReferenceFrontend } from '../../src/referenceFrontend/startReferenceFrontend.ts';
import { type PaymentsRig, type RigKey, startPaymentsRig } from './startPaymentsRig.ts';
import { waitUntil } from './waitUntil.ts';

const PAYMENTS = 50;
/** Those of the frontend whose relayer is alone. */
const PLAIN_PAYMENTS = 10;
/** Payments come in one by one, so that there is something to see. */
const BETWEEN_PAYMENTS_MS = 120;
const BLOCK_TIME_MS = 400;
const LEASE_MS = 6000;
const TIMEOUT_MS = 120_000;
const ETHER = 10n ** 18n;

const tell = (line: string) => console.log(`${new Date().toISOString().slice(11, 23)}  ${line}`);

/** Waits until an instance's journal has a payment in a state. */
async function waitForState(settings: Readonly<Record<string, string>>, state: PaymentState): Promise<string> {
  const file = join(settings.DATA_DIR ?? '', 'payments.db');
  await waitUntil(() => existsSync(file), { timeoutMs: TIMEOUT_MS, what: 'no journal' });
  const journal = openPaymentJournal({ file, now: Date.now });
  let found: string | undefined;
  const look = () => {
    found = journal.list([state])[0]?.paymentIntentId;
    return found !== undefined;
  };
  await waitUntil(look, { timeoutMs: TIMEOUT_MS, what: `nothing is ${state}` }).finally(() => journal.close());
  return found ?? '';
}

/** Kills an instance in the middle of a step, and starts it again. */
async function killDuring(
  program: Program,
  params: { readonly settings: Readonly<Record<string, string>>; readonly state: PaymentState; readonly name: string },
): Promise<void> {
  const { settings, state, name } = params;
  const paymentIntentId = await waitForState(settings, state);
  await program.kill();
  tell(`SIGKILL to ${name}, while ${paymentIntentId} is ${state}`);
  await pause(1500);
  tell(`${name} starts again`);
  await program.restart();
}

async function addPayments(rig: PaymentsRig, frontend: ReferenceFrontend, total: number): Promise<void> {
  for (let count = 1; count <= total; count++) {
    // Some cents, so that no two payments are alike.
    rig.addPayment(5_000_000n + BigInt(count) * 1_010_101n, frontend);
    await pause(BETWEEN_PAYMENTS_MS);
  }
}

async function runGasStory(rig: PaymentsRig, key: RigKey, seen: readonly string[]): Promise<void> {
  const waitFor = (words: string) =>
    waitUntil(() => seen.some((line) => line.includes(words) && line.includes(key.address)), {
      timeoutMs: TIMEOUT_MS,
      what: `no message: ${words}`,
    });
  await rig.client.setBalance({ address: key.address, value: ETHER / 20n });
  tell(`the gas balance of ${key.address} drops to 0.05 ETH`);
  await waitFor('Gas balance low');
  await rig.client.setBalance({ address: key.address, value: 100n * ETHER });
  tell('it is topped up');
  await waitFor('Gas balance is well again');
}

/** Prints the ledger of each relayer, and compares journal, chain and frontend. @returns whether they agree */
async function showBooks(instances: readonly Readonly<Record<string, string>>[]): Promise<boolean> {
  const codes: (number | undefined)[] = [];
  for (const environment of instances) {
    console.log(`\n$ prism payments ledger; prism payments reconcile    # ${environment.DATA_DIR}`);
    await runCommand(['ledger'], { environment, print: console.log });
    codes.push(await runCommand(['reconcile'], { environment, print: console.log }));
  }
  return codes.every((code) => code === 0);
}

async function playDemo(stack: AsyncDisposableStack): Promise<number> {
  const chatLines: string[] = [];
  const rig = stack.use(
    await startPaymentsRig({ blockTimeMs: BLOCK_TIME_MS, heartbeatMs: 600_000, leaseMs: LEASE_MS }),
  );
  const startMail = startMailServer((received) => {
    tell(`e-mail  ${/^Subject: (.*(?:\r\n\s.*)*)/m.exec(received.raw)?.[1]?.replaceAll(/\r\n\s/g, ' ') ?? '?'}`);
  });
  const mail = stack.use(await startMail);
  const startChat = startChatReceiver(({ body }) => {
    // Slack's form, as the settings below ask for.
    const { text } = body as { text: string };
    chatLines.push(text);
    tell(`chat    ${text.split('\n')[0]}`);
  });
  const chat = stack.use(await startChat);
  const [one, two, three] = [await rig.fundKey(), await rig.fundKey(), await rig.fundKey()];
  const plain = await rig.startFrontend();
  const contract = { PAYOUTS_ADDRESS: await rig.deployPayouts([one.address, two.address]) };
  const alerts = {
    SMTP_URL: mail.url,
    NODE_EXTRA_CA_CERTS: mail.certificateFile,
    ALERT_EMAIL_FROM: 'relayer@example.com',
    ALERT_EMAIL_TO: 'ops@example.com',
    ALERT_CHAT_WEBHOOK_URL: chat.url,
    LOG_LEVEL: 'info',
  };
  const pace = {
    RPC_POLL_INTERVAL_MS: '100',
    RPC_TIMEOUT_MS: '1000',
    POLL_INTERVAL_MS: '500',
    MAX_IN_FLIGHT: '4',
  };
  const settings = [
    { ...rig.settingsFor(one, [two.address]), ...contract, ...alerts, ...pace },
    { ...rig.settingsFor(two, [one.address]), ...contract, ...alerts, ...pace },
    { ...rig.settingsFor(three, [], plain), ...alerts, ...pace },
  ] as const;
  tell(`devnet ${rig.rpcUrl}; frontends: ${rig.frontend.url} (two relayers, Payouts), ${plain.url} (one, plain)`);
  const first = stack.use(await startProgram('payments', { env: settings[0] }));
  const second = stack.use(await startProgram('payments', { env: settings[1] }));
  const third = stack.use(await startProgram('payments', { env: settings[2] }));
  const monitorEnv = { ...settings[0], DATA_DIR: join(rig.dir, 'monitor'), GAS_POLL_INTERVAL_MS: '300' };
  const monitor = stack.use(await startProgram('gasMonitor', { env: monitorEnv }));
  const incoming = Promise.all([addPayments(rig, rig.frontend, PAYMENTS), addPayments(rig, plain, PLAIN_PAYMENTS)]);
  // At the same time: after one another, the last of them might find every payment done.
  await Promise.all([
    killDuring(third, { settings: settings[2], state: 'transferring', name: 'relayer three' }),
    killDuring(first, { settings: settings[0], state: 'buying', name: 'relayer one' }),
    killDuring(second, { settings: settings[1], state: 'transferring', name: 'relayer two' }),
  ]);
  await runGasStory(rig, one, chatLines);
  await incoming;
  tell('all payments have come in');
  const listAll = () => [...rig.frontend.store.list(), ...plain.store.list()];
  const isDone = () => listAll().every(({ txHash }) => txHash !== undefined);
  await waitUntil(isDone, { timeoutMs: TIMEOUT_MS, what: 'payments are not completed' });
  tell('all payments are completed');
  await Promise.all([first.stop(), second.stop(), third.stop(), monitor.stop()]);

  const names = new Map([
    [one.address, 'one'],
    [two.address, 'two'],
    [three.address, 'three'],
  ]);
  const evaluated = await evaluatePayments(rig, listAll(), names);
  const wrong = evaluated.filter(({ isRight }) => !isRight).length;
  console.log(`\n${formatTable(evaluated)}\n`);
  console.log(`Alerts: ${mail.mails.length} by e-mail, ${chat.messages.length} by chat.`);
  console.log(chatLines.map((line) => `  ${line.replaceAll('\n', ' — ')}`).join('\n'));
  const sums = evaluated.reduce(
    (all, { owed, received }) => ({ owed: all.owed + owed, received: all.received + received }),
    {
      owed: 0n,
      received: 0n,
    },
  );
  const secrets = [rig.secret, one.privateKey, two.privateKey, three.privateKey, chat.url];
  const isSecretKept = !secrets.some((secret) => chatLines.join().includes(secret));
  const isReconciled = await showBooks(settings);
  const isRight =
    wrong === 0 &&
    isReconciled &&
    evaluated.length === PAYMENTS + PLAIN_PAYMENTS &&
    sums.owed === sums.received &&
    mail.mails.length === chat.messages.length &&
    isSecretKept;
  console.log(
    `\n${evaluated.length} payments, ${wrong} wrong; owed ${sums.owed}, received ${sums.received}. ${isRight ? 'All agrees.' : 'IT DOES NOT AGREE.'}`,
  );
  return isRight ? 0 : 1;
}

/** A payment, as the demo looks at it in the end. */
interface EvaluatedPayment {
  readonly paymentIntentId: string;
  readonly txHash: string;
  readonly payouts: number;
  readonly owed: bigint;
  readonly received: bigint;
  readonly paidBy: string;
  readonly isRight: boolean;
}

const RATE = 1000n;

/**
 * Compares each payment with the chain, to the last unit.
 *
 * @returns what was owed, and what was received in how many payouts
 */
async function evaluatePayments(
  rig: PaymentsRig,
  payments: ReturnType<ReferenceFrontend['store']['list']>,
  names: ReadonlyMap<Address, string>,
): Promise<readonly EvaluatedPayment[]> {
  const evaluated: EvaluatedPayment[] = [];
  for (const payment of payments) {
    const { paymentIntentId, txHash = '' } = payment;
    // The demo itself has made the wallet, and the frontend takes nothing but hashes.
    const received = await rig.creditsOf(payment.walletAddress as Address);
    const owed = computeCreditsOwed(BigInt(payment.stablecoinAmount), RATE);
    const payouts = await rig.countPayouts(payoutIdOf(paymentIntentId));
    const from = txHash === '' ? undefined : (await rig.client.getTransaction({ hash: txHash as Hash })).from;
    const payer = [...names].find(([address]) => address.toLowerCase() === from?.toLowerCase());
    const isRight = received === owed && payouts === 1 && payer !== undefined;
    evaluated.push({ paymentIntentId, txHash, payouts, owed, received, paidBy: payer?.[1] ?? '?', isRight });
  }
  return evaluated;
}

/** Writes the table of the demo's end. */
function formatTable(payments: readonly EvaluatedPayment[]): string {
  const rows = payments.map(({ paymentIntentId, txHash, payouts, owed, received, paidBy, isRight }) =>
    [
      paymentIntentId.padEnd(22),
      `${txHash.slice(0, 12)}…`.padEnd(14),
      paidBy.padEnd(5),
      `${payouts}`.padStart(7),
      formatUnits(owed, 18).padStart(12),
      formatUnits(received, 18).padStart(12),
      isRight ? 'ok' : 'WRONG',
    ].join('  '),
  );
  const head = [
    'payment'.padEnd(22),
    'transfer'.padEnd(14),
    'by   ',
    'payouts',
    'owed'.padStart(12),
    'received'.padStart(12),
    '',
  ];
  return [head.join('  '), ...rows].join('\n');
}

// Not `using`: the checker of imports cannot read it.
const stack = new AsyncDisposableStack();
try {
  process.exitCode = await playDemo(stack);
} finally {
  await stack.disposeAsync();
}
