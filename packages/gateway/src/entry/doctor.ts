/** `npm run doctor`: looks at what a gateway with this environment needs, and says what to do. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { dynamoAccess } from './dynamoAccess.ts';
import { parseSettings, type Settings } from './settings.ts';

/** What a look has found. */
interface Finding {
  readonly check: 'settings' | 'port' | 'disk' | 'database' | 'objects' | 'identity' | 'clock';
  readonly ok: boolean;
  readonly found: string;
  /** What to do; empty where all is well. */
  readonly advice: string;
}

const HELP = `Looks at settings, port, disk, database, bucket, identity provider and clock, and says what to do about each.

  npm run doctor          with the gateway's own environment, while it runs or not
  npm run doctor -- --json

It changes nothing, and ends with 1 if something has to be done.`;

/** How long others may take to answer, in milliseconds. */
const ANSWER_MS = 5000;
/** Free space that a gateway should have, in bytes. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;
/** Relayers' signatures and tokens are refused beyond minutes; a clock that is off by this much is not kept. */
const MAX_CLOCK_SKEW_MS = 5000;

const well = (check: Finding['check'], found: string): Finding => ({ check, ok: true, found, advice: '' });
const bad = (check: Finding['check'], found: string, advice: string): Finding => ({ check, ok: false, found, advice });

/** Whether somebody can listen there. */
function canListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once('error', (error) => settle(error));
    server.listen({ host, port }, () => server.close(() => settle(undefined)));
  });
}

async function checkPort({ HOST, PORT }: Settings): Promise<Finding> {
  const fault = await canListen(HOST, PORT);
  if (fault === undefined) return well('port', `${HOST}:${PORT} is free`);
  const url = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}/health`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  if (answer?.ok) return well('port', `a service answers /health on ${HOST}:${PORT}`);
  return bad('port', `${HOST}:${PORT}: ${fault.message}`, 'Stop what listens there, or set PORT or HOST to others.');
}

/** The folder, or the one above in which it would be made. */
const findExisting = (folder: string): string => (existsSync(folder) ? folder : findExisting(dirname(folder)));

function checkDisk({ DATA_DIR }: Settings): Finding {
  const folder = resolve(DATA_DIR);
  try {
    const place = findExisting(folder);
    accessSync(place, constants.W_OK);
    const { bavail, bsize } = statfsSync(place);
    const free = bavail * bsize;
    const found = `${(free / 1e9).toFixed(1)} GB free for ${folder}`;
    if (free >= MIN_FREE_BYTES) return well('disk', found);
    return bad('disk', found, 'Free some space, or set DATA_DIR to another disk.');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return bad('disk', why, 'Set DATA_DIR to a folder that this user may write.');
  }
}

/** Asks the services of AWS, where the settings name them: only then is their client loaded. */
async function askServices(settings: Settings): Promise<readonly Finding[]> {
  const { STORE, STORAGE_BUCKET } = settings;
  if (STORE === 'sqlite' && STORAGE_BUCKET === undefined) return [checkFile(settings)];
  const { checkBucket, checkTables } = await import('./checkServices.ts');
  const [database, objects] = await Promise.all([
    STORE === 'dynamodb'
      ? checkTables(settings, dynamoAccess({ stage: settings.STAGE, environment: process.env }))
      : checkFile(settings),
    checkBucket(settings),
  ]);
  return [
    { ...database, check: 'database' },
    { ...objects, check: 'objects' },
  ];
}

function checkFile({ databaseFile }: Settings): Finding {
  try {
    const database = new DatabaseSync(databaseFile, { readOnly: true });
    try {
      const { pages } = database.prepare('SELECT count(*) AS pages FROM sqlite_schema').get() ?? {};
      return well('database', `${databaseFile} opens, with ${Number(pages)} tables and indexes`);
    } finally {
      database.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (/unable to open/.test(why))
      return well('database', `${databaseFile} is not there yet: the first start makes it`);
    return bad('database', why, 'Restore a backup into a new DATA_DIR: npm run restore -- --help.');
  }
}

/** The provider answers, and its clock is ours. */
async function checkIdentity({ IDENTITY_ISSUER: issuer }: Settings): Promise<readonly Finding[]> {
  if (issuer === undefined) {
    return [well('identity', 'the built-in development issuer'), well('clock', 'no other clock to compare with')];
  }
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  if (answer === undefined || !answer.ok) {
    const found = answer === undefined ? `${url} does not answer` : `${url} answers ${answer.status}`;
    return [bad('identity', found, 'Check IDENTITY_ISSUER, the network, and the provider.')];
  }
  const skewMs = Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now());
  const clock = `${Math.round(skewMs / 1000)} s from the identity provider's`;
  if (!(skewMs > MAX_CLOCK_SKEW_MS)) return [well('identity', `${issuer} answers`), well('clock', clock)];
  return [well('identity', `${issuer} answers`), bad('clock', clock, "Let the system's time service set the clock.")];
}

async function examine(): Promise<readonly Finding[]> {
  let settings: Settings;
  try {
    settings = parseSettings(process.env);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [bad('settings', why, 'Set them as npm start -- --help says.')];
  }
  const place = well('settings', `stage ${settings.STAGE}, store ${settings.STORE}`);
  return [
    place,
    await checkPort(settings),
    checkDisk(settings),
    ...(await askServices(settings)),
    ...(await checkIdentity(settings)),
  ];
}

async function main(): Promise<number> {
  const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  const { values } = parseArgs({ options });
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
