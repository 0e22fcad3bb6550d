/** The real programs, each started as a process of the simulated world, with its default settings. */
import { setTimeout as pause } from 'node:timers/promises';
import { parseSettings as parseGatewaySettings } from '@prism-gateway/gateway/settings';
import { wireGateway } from '@prism-gateway/gateway/wire';
import { createLogger, type Logger } from '@prism-gateway/node/logs';
import { startGasMonitor } from '@prism-gateway/payments/gas-monitor';
import { parseSettings as parsePaymentSettings } from '@prism-gateway/payments/settings';
import { startPayments } from '@prism-gateway/payments/start';
import { parseSettings as parseRelayerSettings } from '@prism-gateway/relayer/settings';
import { startRelayer } from '@prism-gateway/relayer/start';
import { startWatchtower } from '@prism-gateway/relayer/watch';
import { parseWatchSettings } from '@prism-gateway/relayer/watch-settings';
import { createInlineThread } from '../core/inlineThread.ts';
import { runAs, type SimProcess, whenRunning } from '../core/processes.ts';
import type { Realm } from '../core/realm.ts';

/** A program on a machine of its own, that can be killed and started again on the same disk. */
export interface Service {
  readonly name: string;
  readonly host: string;
  /** Settings of the next start. */
  readonly environment: Record<string, string>;
  isUp(): boolean;
  process(): SimProcess | undefined;
  start(): Promise<void>;
  /** As `kill -9`. */
  kill(): void;
  /** As SIGTERM: it finishes what it can. */
  stop(): Promise<void>;
}

/** After how long a program that did not start is started again, in milliseconds: as our unit for systemd has it. */
const RESTART_MS = 2000;

/** The parts of a started program. */
interface Running {
  stop(): Promise<void>;
}

type Environment = Record<string, string>;

/** Ids of requests and payments, and hashes of transactions. */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\bpi_\w+|0x[0-9a-f]{64}/g;

/** Has a program's log lines become events of the world. */
function createWrite(realm: Realm, who: string): (line: string) => void {
  return (line) => {
    // One line for each call would say again what the messages say.
    if (line.includes('"msg":"request"')) return;
    // Times stand beside the event, and a stack shows the machine's own event loop.
    const text = JSON.stringify(JSON.parse(line), (name, value) =>
      name === 'time' || name === 'stack' ? undefined : value,
    );
    realm.log.add({ kind: 'log', who, text, about: [...new Set(text.match(ID) ?? [])] });
  };
}

/** Makes a service out of a program's start. */
export function createService(
  realm: Realm,
  {
    name,
    environment,
    main,
  }: {
    readonly name: string;
    readonly environment: Environment;
    readonly main: (
      environment: Environment,
      log: { write: (line: string) => void; logger: Logger },
    ) => Promise<Running>;
  },
): Service {
  let up: { readonly process: SimProcess; readonly value: Running } | undefined;
  /** Starts and stops one after the other: an operator does not do both at once. */
  let acting: Promise<unknown> = Promise.resolve();
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = acting.then(act, act);
    acting = done.catch(() => undefined);
    return done;
  }
  return {
    name,
    host: name,
    environment,
    isUp: () => up?.process.isAlive === true,
    process: () => up?.process,
    start: () =>
      inTurn(async () => {
        if (up?.process.isAlive === true) return;
        const begin = () =>
          realm.start(name, name, async (process) => {
            const write = createWrite(realm, process.name);
            const logger = createLogger({ level: 'info', write, now: Date.now });
            return await main({ ...environment, DATA_DIR: realm.diskOf(name) }, { write, logger });
          });
        for (up = undefined; up === undefined; ) {
          up = await begin().catch(async (error: unknown) => {
            const text = `does not start: ${error instanceof Error ? error.message : error}`;
            realm.log.add({ kind: 'process', who: name, text });
            await pause(RESTART_MS);
            return undefined;
          });
        }
      }),
    kill() {
      if (up !== undefined) realm.kill(up.process);
    },
    stop: () =>
      inTurn(async () => {
        if (up?.process.isAlive !== true) return;
        const { process, value } = up;
        const stopped = new Promise<void>((resolve, reject) => {
          whenRunning(process, () => runAs(process, () => value.stop()).then(resolve, reject));
        });
        // One that is killed meanwhile never says that it has stopped.
        await Promise.race([
          stopped,
          new Promise<void>((resolve) => {
            process.onDeath = resolve;
          }),
        ]);
        realm.kill(process);
      }),
  };
}

/** The gateway with its SQLite store, whose writer runs in the thread of the world. */
export function createGatewayService(realm: Realm, environment: Environment = {}): Service {
  return createService(realm, {
    name: 'gateway',
    environment,
    async main(given, { write }) {
      const gateway = await wireGateway({
        settings: parseGatewaySettings(given),
        environment: given,
        publicUrl: 'http://gateway:8787',
        thread: createInlineThread(),
        log: { write, close: async () => undefined },
      });
      realm.network.listen('gateway:8787', async ({ request, from }) => {
        const answer = await gateway.fetch(request, { peerAddress: addressOf(from) });
        // As Node's server does.
        answer.headers.set('date', new Date().toUTCString());
        return answer;
      });
      return {
        async stop() {
          gateway.endWaits();
          await gateway.close();
        },
      };
    },
  });
}

/** A private address for each machine, so that rate limits distinguish them. */
function addressOf(host: string): string {
  let sum = 0;
  for (const character of host) sum = (sum * 31 + character.charCodeAt(0)) % 65_536;
  return `10.1.${sum >> 8}.${sum & 255}`;
}

/** One relayer. */
export function createRelayerService(realm: Realm, name: string, environment: Environment): Service {
  return createService(realm, {
    name,
    environment: { LOCK_DIR: realm.diskOf(name), ...environment },
    async main(given, { logger }) {
      return await startRelayer({ settings: parseRelayerSettings(given), logger, now: Date.now, random: Math.random });
    },
  });
}

/** The watchtower. */
export function createWatchtowerService(realm: Realm, environment: Environment): Service {
  return createService(realm, {
    name: 'watchtower',
    environment,
    async main(given, { logger }) {
      return await startWatchtower({ settings: parseWatchSettings(given), log: logger, now: Date.now });
    },
  });
}

/** A payment relayer, whose journal can be looked at while it is up. */
export interface PaymentsService extends Service {
  journal(): PaymentJournal | undefined;
}

type PaymentJournal = Awaited<ReturnType<typeof startPayments>>['journal'];

/** One payment relayer. */
export function createPaymentsService(realm: Realm, name: string, environment: Environment): PaymentsService {
  let journal: PaymentJournal | undefined;
  const service = createService(realm, {
    name,
    environment: { LOCK_DIR: realm.diskOf(name), ...environment },
    async main(given, { logger }) {
      const payments = await startPayments({ settings: parsePaymentSettings('payments', given), log: logger });
      journal = payments.journal;
      return payments;
    },
  });
  return { ...service, journal: () => (service.isUp() ? journal : undefined) };
}

/** The gas monitor. */
export function createGasMonitorService(realm: Realm, environment: Environment): Service {
  return createService(realm, {
    name: 'gas-monitor',
    environment,
    async main(given, { logger }) {
      return await startGasMonitor({ settings: parsePaymentSettings('gas-monitor', given), log: logger });
    },
  });
}
