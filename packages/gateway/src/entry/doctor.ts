/** `npx prism doctor`: looks at what a gateway with this environment needs, and says what to do. */
import { createServer } from 'node:net';
import { parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import { checkDatabase, checkDisk, checkSecrets } from './checkDataDir.ts';
import { dynamoAccess } from './dynamoAccess.ts';
import { bad, type Finding, well } from './finding.ts';
import { isLoopback } from './isLoopback.ts';
import { isPublic, parseSettings, type Settings, type Store } from './settings.ts';

const HELP = `Looks at settings, exposure, port, disk, database, bucket, identity provider and clock, and says what to do about each.

  npx prism doctor        with the gateway's own environment, while it runs or not
  npx prism doctor --json

It changes nothing, and ends with 1 if something has to be done.`;

/** How long others may take to answer, in milliseconds. */
const ANSWER_MS = 5000;
/** Relayers' signatures and tokens are refused beyond minutes; a clock that is off by this much is not kept. */
const MAX_CLOCK_SKEW_MS = 5000;

/** Whether somebody can listen there. */
function canListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once('error', (error) => settle(error));
    server.listen({ host, port }, () => server.close(() => settle(undefined)));
  });
}

/** Advice about an address that cannot be listened on, by the system's code. */
const PORT_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Stop what listens there, or set PORT to another one.',
  EADDRNOTAVAIL: 'Set HOST to an address of this machine.',
  EACCES: 'Set PORT to one that this user may use, from 1024 on.',
};

/** Looks whether a server can listen there, or one of ours does already. */
async function checkPort(
  { HOST, PORT }: Pick<Settings, 'HOST' | 'PORT'>,
  path: string,
): Promise<Omit<Finding, 'check'>> {
  const fault = await canListen(HOST, PORT);
  const place = `${HOST}:${PORT}`;
  if (fault === undefined)
    return { ok: true, found: PORT === 0 ? `any free port of ${HOST}` : `${place} is free`, advice: '' };
  const url = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}${path}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  if (answer?.ok) return { ok: true, found: `a service answers ${path} on ${place}`, advice: '' };
  const advice = PORT_ADVICE[fault.code ?? ''] ?? 'Set HOST and PORT to others.';
  return { ok: false, found: `${place}: ${fault.message}`, advice };
}

async function checkMetricsPort({ METRICS_HOST: HOST, METRICS_PORT: PORT }: Settings): Promise<readonly Finding[]> {
  if (PORT === 0) return [];
  const finding = await checkPort({ HOST, PORT }, '/metrics');
  const advice = finding.advice.replaceAll('HOST', 'METRICS_HOST').replaceAll('PORT', 'METRICS_PORT');
  return [{ check: 'metrics', ...finding, advice }];
}

/** Looks at where the queue is; a client is only loaded if it is needed. */
const LOOK_AT_STORE: Readonly<Record<Store, (settings: Settings) => Promise<readonly Finding[]>>> = {
  sqlite: async (settings) => checkDatabase(settings, Date.now()),
  async postgres(settings) {
    const { checkPostgres } = await import('./checkPostgres.ts');
    return [{ check: 'database', ...(await checkPostgres(settings)) }];
  },
  async dynamodb(settings) {
    const { checkTables } = await import('./checkServices.ts');
    const access = dynamoAccess({ stage: settings.STAGE, environment: process.env });
    return [{ check: 'database', ...(await checkTables(settings, access)) }];
  },
};

async function lookAtBucket(settings: Settings): Promise<readonly Finding[]> {
  if (settings.STORE === 'sqlite' && settings.STORAGE_BUCKET === undefined) return [];
  const { checkBucket } = await import('./checkServices.ts');
  return [{ check: 'objects', ...(await checkBucket(settings)) }];
}

async function askServices(settings: Settings): Promise<readonly Finding[]> {
  const looks = await Promise.all([LOOK_AT_STORE[settings.STORE](settings), lookAtBucket(settings)]);
  return looks.flat();
}

/** The provider answers, and its clock is ours. */
async function checkIdentity({ IDENTITY_ISSUER: issuer }: Settings): Promise<readonly Finding[]> {
  if (issuer === undefined) {
    return [well('identity', 'the built-in development issuer')];
  }
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  if (answer === undefined || !answer.ok) {
    const found = answer === undefined ? `${url} does not answer` : `${url} answers ${answer.status}`;
    return [bad(found, 'Check IDENTITY_ISSUER, the network, and the provider.')('identity')];
  }
  const skewMs = Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now());
  const clock = `${Math.round(skewMs / 1000)} s from the identity provider's`;
  if (!(skewMs > MAX_CLOCK_SKEW_MS)) return [well('identity', `${issuer} answers`), well('clock', clock)];
  return [well('identity', `${issuer} answers`), bad(clock, "Let the system's time service set the clock.")('clock')];
}

/** Whether others than this machine may reach a gateway whose key is known to all. */
function checkExposure(settings: Settings): Finding {
  const isOpen =
    isPublic(settings) || !isLoopback(`http://${settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST}`);
  if (settings.STAGE === 'prod')
    return well('exposure', 'stage prod: keys of your own, metrics on a port of their own');
  if (!isOpen) return well('exposure', 'stage dev, on this machine alone');
  const found = `stage dev can be reached from outside (HOST ${settings.HOST}): the development key opens /admin, and anybody gets tokens`;
  return bad(found, 'Set STAGE=prod.')('exposure');
}

async function examine(): Promise<readonly Finding[]> {
  let settings: Settings;
  try {
    settings = parseSettings(process.env);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [bad(why, 'Set them as npx prism start --help says.')('settings')];
  }
  const place = well('settings', `stage ${settings.STAGE}, store ${settings.STORE}`);
  return [
    place,
    checkExposure(settings),
    { check: 'port', ...(await checkPort(settings, '/health')) },
    ...(await checkMetricsPort(settings)),
    checkDisk(settings),
    ...(await askServices(settings)),
    ...checkSecrets(settings),
    ...(await checkIdentity(settings)),
  ];
}

/** @returns the options, or what is wrong with them */
function readArguments() {
  const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    return parseCommandLine({ options, args: process.argv.slice(2) }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function main(): Promise<number> {
  const values = readArguments();
  if (typeof values === 'string') {
    console.error(writeFailure(process.argv, values));
    return USAGE_STATUS;
  }
  if (values.help === true) {
    console.log(HELP);
    return 0;
  }
  const findings = await examine();
  const ok = findings.every((finding) => finding.ok);
  if (values.json === true) console.log(JSON.stringify({ ok, findings }));
  for (const finding of values.json === true ? [] : findings) {
    console.log(`${finding.ok ? 'ok ' : 'BAD'}  ${finding.check.padEnd(9)} ${finding.found}`);
    if (finding.advice !== '') console.log(`               → ${finding.advice}`);
  }
  return ok ? 0 : 1;
}

process.exitCode = await main();
