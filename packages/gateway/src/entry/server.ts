/** `npm start`: the gateway as one process of Node.js. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveMetrics, waitForSignal } from '@prism-gateway/node';
import { CommandLineError, USAGE_STATUS } from '@prism-gateway/node/command-line';
import { findMisspelt, writeSettingsHelp } from '@prism-gateway/node/settings';
import { createByteBudget } from '../http/createByteBudget.ts';
import { answersAdminLocally } from './answersAdminLocally.ts';
import { assertRestored } from './backup/assertRestored.ts';
import { writeBanner } from './banner.ts';
import { boundConnections, type ConnectionLimits } from './boundConnections.ts';
import { boundHeads } from './boundHeads.ts';
import { createListener, type MemoryBudgets } from './createListener.ts';
import { fitConnections, readFileLimit } from './fitConnections.ts';
import { findCollector, gcAfterSpike } from './gcAfterSpike.ts';
import { gatewaySettings, parseSettings, type Settings } from './settings.ts';
import { describeStartFailure } from './startFailure.ts';
import { findStartWarnings } from './startWarnings.ts';
import { prepareServer } from './transport.ts';
import { type WiredGateway, wireGateway } from './wire.ts';

/** How long requests under way may take after a signal, in milliseconds: the function's time limit on AWS. */
const DRAIN_MS = 29_000;
/** How often connections that have become idle are closed meanwhile, in milliseconds. */
const IDLE_SWEEP_MS = 20;
/** How long a connection may send nothing between two requests, in milliseconds. */
const KEEP_ALIVE_MS = 65_000;

/** How long a whole request may take to come in, in milliseconds; uploads of objects have a pace of their own. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often late requests are looked for, in milliseconds. */
const TIMEOUT_SWEEP_MS = 1000;

/** The media type of Prometheus' text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Listens before anything else is opened, so that a port in use costs nothing. */
async function listen({ HOST, PORT }: Settings): Promise<Server> {
  // The listener refuses a missing host itself, in the error's shape. Of two hosts, tokens or types Node would take the first; joined,
  // they are none.
  const options = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_SWEEP_MS,
    requireHostHeader: false,
    joinDuplicateHeaders: true,
  };
  const server = createServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: HOST, port: PORT }, resolve);
  });
  return server;
}

function ownUrl(settings: Settings, server: Server): string {
  if (settings.PUBLIC_URL !== undefined) return settings.PUBLIC_URL.replace(/\/+$/, '');
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return `http://${settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST}:${port}`;
}

/** Has whoever balances load send calls elsewhere: `/ready` says 503, and each connection ends with its answer. */
async function sendElsewhere(server: Server, gateway: WiredGateway, seconds: number): Promise<void> {
  gateway.endWaits();
  if (seconds === 0) return;
  gateway.stopBeingReady();
  server.prependListener('request', (_, outgoing) => {
    outgoing.shouldKeepAlive = false;
  });
  await sleep(seconds * 1000);
}

/** No new connections; requests under way are answered. */
async function drain(server: Server, connections: Iterable<Socket>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    // To Node, a connection on which nothing was ever asked is not idle: browsers open them in advance.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  }, IDLE_SWEEP_MS);
  const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(force);
}

/** Behind proxies, a peer of the connection is not a client. */
function connectionLimits(settings: Settings): ConnectionLimits {
  const { MAX_CONNECTIONS: total, MAX_CONNECTIONS_PER_PEER: perPeer, TRUSTED_PROXY_HOPS: hops } = settings;
  return { total, perPeer: hops === 0 ? perPeer : 0 };
}

/** Bytes of all bodies under way, of all answers not yet read, and of all heads that have not come in wholly. */
const BUDGET_BYTES = 32 * 1024 * 1024;
/** Bytes of all calls that wait: 12,000 with the headers of a browser. */
const CALLS_BYTES = 2 * BUDGET_BYTES;
/** Fewest bodies of the largest size that may be under way at once. */
const LEAST_BODIES = 4;

const bodiesBytes = ({ MAX_BODY_BYTES }: Settings) => Math.max(BUDGET_BYTES, LEAST_BODIES * MAX_BODY_BYTES);

function createBudgets(settings: Settings): MemoryBudgets {
  const now = () => performance.now();
  return {
    bodies: createByteBudget({ maxBytes: bodiesBytes(settings), now }),
    answers: createByteBudget({ maxBytes: BUDGET_BYTES, now }),
    calls: createByteBudget({ maxBytes: CALLS_BYTES, now }),
  };
}

const ADMIN_KEY_WARNING =
  'The admin key is the one that everybody knows: /admin and development tokens are answered to this machine and private networks alone. Set ADMIN_API_KEY.';

/** Serves `/metrics` beside the API, if it is asked for. @throws Error with what to do if the port is in use */
async function listenForMetrics({ METRICS_HOST: host, METRICS_PORT: port }: Settings, metrics: () => Promise<string>) {
  if (port === 0) return undefined;
  try {
    return await serveMetrics({ registry: { contentType: METRICS_TYPE, metrics }, port, host });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw cause;
    throw new Error(`${host}:${port} is in use: set METRICS_PORT to another port, or to 0 for no metrics.`, {
      cause,
    });
  }
}

async function serve(settings: Settings): Promise<void> {
  const signal = waitForSignal();
  const server = await listen(settings);
  const { limits, warning: fewFiles } = fitConnections(connectionLimits(settings), readFileLimit());
  const connections = boundConnections(server, limits);
  gcAfterSpike(server, { count: connections.count, collect: findCollector() });
  const heads = boundHeads(server, { maxBytes: BUDGET_BYTES, connections: connections.open, count: connections.count });
  const budgets = createBudgets(settings);
  const publicUrl = ownUrl(settings, server);
  const readBudgets = () => [
    { name: 'bodies', most: bodiesBytes(settings), used: budgets.bodies.used(), ended: budgets.bodies.ended() },
    { name: 'heads', most: BUDGET_BYTES, used: heads.used(), ended: heads.ended() },
    { name: 'answers', most: BUDGET_BYTES, used: budgets.answers.used(), ended: budgets.answers.ended() },
    { name: 'calls', most: CALLS_BYTES, used: budgets.calls.used(), ended: budgets.calls.ended() },
    {
      ...{ name: 'connections', used: connections.count(), ended: connections.ended() },
      ...(limits.total > 0 && { most: limits.total }),
    },
  ];
  const hasAnswerRoom = () => budgets.answers.used() < BUDGET_BYTES / 2;
  const opened = Promise.withResolvers<WiredGateway>();
  // Taken before the store is opened, as the gateway's own port is.
  const metrics = await listenForMetrics(settings, async () => (await opened.promise).renderMetrics());
  const wired = wireGateway({ settings, environment: process.env, publicUrl, readBudgets, hasAnswerRoom });
  wired.then(opened.resolve, opened.reject);
  opened.promise.catch(() => undefined);
  const listener = wired.then((gateway) =>
    createListener(gateway, {
      ...{ hostname: settings.HOST, trustedProxyHops: settings.TRUSTED_PROXY_HOPS },
      ...{ logger: gateway.logger, ...budgets },
    }),
  );
  // Whoever calls before the stores are open waits for them.
  const early: RequestListener = (incoming, outgoing) => {
    listener.then((answer) => answer(incoming, outgoing)).catch(() => outgoing.destroy());
  };
  server.on('request', early);
  prepareServer(server);
  const gateway = await wired;
  server.on('request', await listener).off('request', early);
  if (settings.STAGE === 'dev') console.log(writeBanner({ settings, publicUrl, usesDevIssuer: gateway.usesDevIssuer }));
  if (fewFiles !== undefined) gateway.logger.warn({ code: 'SETTING' }, fewFiles);
  const misspelt = findMisspelt(gatewaySettings, process.env);
  for (const warning of [...misspelt, ...findStartWarnings(settings)])
    gateway.logger.warn({ code: 'SETTING' }, warning);
  if (answersAdminLocally(settings)) gateway.logger.warn({ code: 'SETTING' }, ADMIN_KEY_WARNING);
  gateway.logger.info({ address: publicUrl, stage: settings.STAGE, store: settings.STORE }, 'listening');
  gateway.logger.info({ signal: await signal }, 'stopping');
  await sendElsewhere(server, gateway, settings.DRAIN_SECONDS);
  await drain(server, connections.open);
  await metrics?.close();
  await gateway.close();
  gateway.logger.info({}, 'stopped');
  await gateway.closeLog();
}

/** The output of `npx prism start --help`. */
const usage = `Prism Gateway: npx prism start

Settings are environment variables; each has a default that works on one machine. Its log is JSON, a line an event.

${writeSettingsHelp(gatewaySettings)}`;

/** @throws CommandLineError for any other argument: settings are environment variables. */
function asksForHelp(args: readonly string[]): boolean {
  const other = args.find((arg) => arg !== '--help' && arg !== '-h');
  if (other === undefined) return args.length > 0;
  throw new CommandLineError(
    `It takes no argument "${other}": settings are environment variables, like PORT=9000 npx prism start; see npx prism start --help.`,
  );
}

async function main(): Promise<number> {
  let where = { address: 'the address', dataDir: process.env.DATA_DIR ?? './data' };
  try {
    if (asksForHelp(process.argv.slice(2))) {
      console.log(usage);
      return 0;
    }
    const settings = parseSettings(process.env);
    where = { address: `${settings.HOST}:${settings.PORT}`, dataDir: settings.DATA_DIR };
    assertRestored(settings.DATA_DIR);
    await serve(settings);
    return 0;
  } catch (error) {
    console.error(`Prism Gateway could not start. ${describeStartFailure(error, where)}`);
    return error instanceof CommandLineError ? USAGE_STATUS : 1;
  }
}

process.exit(await main());
