/** `npx prism walkthrough`: plays the main job against a running gateway, and shows each request and its answer. */
import { CommandLineError, parseCommandLine, USAGE_STATUS } from '@prism-gateway/node/command-line';
import { defaultAdminKey, defaultUrl } from '../rig/defaultTarget.ts';
import { createClient, WalkthroughError } from './client.ts';
import {
  listPending,
  newAccount,
  raceForClaim,
  readPublicRecord,
  removeRelayers,
  reportOutcomes,
  submitEveryAction,
  whitelistRelayers,
} from './queueSteps.ts';
import { showEnd } from './show.ts';
import { getDevelopmentToken, requireDevelopmentIssuer, storeObject } from './storageSteps.ts';

const USAGE = `Plays the main job against a running gateway and shows each request and its answer.

  npx prism walkthrough [--url URL] [--admin-key KEY] [--token TOKEN]

  --url URL         the gateway (start it with npx prism start); default PUBLIC_URL, else http://HOST:PORT, else http://127.0.0.1:8787
  --admin-key KEY   its administrator's key; default ADMIN_API_KEY, else that of development
  --token TOKEN     an access token, where the gateway has no development issuer
  --help            this text`;

const OPTIONS = {
  url: { type: 'string', default: defaultUrl(process.env) },
  'admin-key': { type: 'string', default: defaultAdminKey(process.env) },
  token: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

async function play(url: string, adminKey: string, givenToken: string | undefined): Promise<void> {
  const client = createClient(url.replace(/\/+$/, ''));
  if (givenToken === undefined) await requireDevelopmentIssuer(client);
  const startedAt = performance.now();
  const relayers = await whitelistRelayers(client, adminKey);
  try {
    const wallet = newAccount();
    const records = await submitEveryAction(client, wallet);
    const [first] = records;
    const [relayer] = relayers;
    if (first === undefined || relayer === undefined) throw new WalkthroughError('There is nothing to claim.');
    await listPending(client, relayer);
    const winner = await raceForClaim(client, relayers, first);
    await reportOutcomes(client, winner, records);
    await readPublicRecord(client, wallet, first);
    await storeObject(client, givenToken ?? (await getDevelopmentToken(client)));
  } finally {
    await removeRelayers(client, adminKey, relayers);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  showEnd(
    `Done in ${seconds} s: 12 requests created, one claimed by 1 of 20 rivals, two reported, one object stored, read and deleted.`,
  );
  showEnd(
    `See the requests in the console: ${url.replace(/\/+$/, '')}/console, with the administrator's key. From a clone to here takes a newcomer less than three minutes.`,
  );
}

async function main(): Promise<number> {
  try {
    const { values } = parseCommandLine({ options: OPTIONS, args: process.argv.slice(2) });
    if (values.help) {
      console.log(USAGE);
      return 0;
    }
    await play(values.url, values['admin-key'], values.token);
    return 0;
  } catch (error) {
    if (error instanceof CommandLineError) {
      console.error(error.message);
      return USAGE_STATUS;
    }
    if (!(error instanceof Error)) throw error;
    console.error(`\nThe walkthrough stopped. ${error.message}`);
    return 1;
  }
}

process.exitCode = await main();
