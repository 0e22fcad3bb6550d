import { EDGE_REGION, type StageSettings } from '../settings/stageSettings.ts';
import { stackNameOf } from '../stack/createGatewayApp.ts';

/** The state of an account before anything is deployed to it. */
export interface AccountView {
  accountId(): Promise<string>;
  /** Version of the CDK's bootstrap. @returns undefined if there is none */
  bootstrapVersion(region: string): Promise<number | undefined>;
  concurrency(functionName: string): Promise<Concurrency>;
  hasFunction(name: string): Promise<boolean>;
  hasTable(name: string): Promise<boolean>;
  hasStack(name: string): Promise<boolean>;
}

/** Lambda's instances of an account. */
export interface Concurrency {
  /** Of the whole account, in its region. */
  readonly limit: number;
  /** Reserved by no function. */
  readonly unreserved: number;
  /** Reserved by the gateway's function already. */
  readonly own: number;
}

/** A reason for which a deployment would fail. Names the settings, and the way out of each fault. */
export class PreflightError extends Error {
  override readonly name = 'PreflightError';
  readonly code = 'PREFLIGHT_FAILED';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`Nothing was deployed:\n  ${faults.join('\n  ')}`);
    this.faults = faults;
  }
}

/** The deployment to make, with notes for the reader. */
export interface Preflight {
  readonly settings: StageSettings;
  readonly accountId: string;
  readonly notes: readonly string[];
}

interface PreflightContext {
  readonly account: AccountView;
  readonly settings: StageSettings;
  /** Like `24.21.0`. */
  readonly nodeVersion: string;
}

/** @see https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html */
const OLDEST_BOOTSTRAP = 6;
const OLDEST_NODE = 20;
/** Instances that Lambda keeps for functions that reserve none. @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
const KEPT_UNRESERVED = 100;
/** Fewer than this would be less than an account without any reservation serves. */
const FEWEST_RESERVED = 10;

type Found = { readonly faults: string[]; readonly notes: string[] };

async function checkBootstrap(
  { account, settings }: PreflightContext,
  accountId: string,
  { faults }: Found,
): Promise<void> {
  const regions = new Set([settings.region ?? '', ...(settings.edge === undefined ? [] : [EDGE_REGION])]);
  for (const region of regions) {
    const version = await account.bootstrapVersion(region);
    if (version !== undefined && version >= OLDEST_BOOTSTRAP) continue;
    const what = version === undefined ? 'there is none' : `its version is ${version}`;
    faults.push(
      `bootstrap of ${region}: ${what}, ${OLDEST_BOOTSTRAP} is needed: infra/node_modules/.bin/cdk bootstrap aws://${accountId}/${region}`,
    );
  }
}

async function checkNames({ account, settings }: PreflightContext, { faults, notes }: Found): Promise<void> {
  const { stage } = settings;
  const functionName = `prism-gateway-${stage}`;
  if (!(await account.hasStack(stackNameOf(stage, 'Service'))) && (await account.hasFunction(functionName))) {
    faults.push(`function ${functionName}: the name is in use, and not by this stage's stack`);
  }
  if (await account.hasStack(stackNameOf(stage, 'Data'))) return;
  for (const store of ['requests', 'relayers', 'ratelimit']) {
    const table = `service-${store}-${stage}`;
    if (!(await account.hasTable(table))) continue;
    if (stage === 'prod') notes.push(`${table} is there and belongs to no stack of this stage: it is taken over.`);
    else faults.push(`table ${table}: the name is in use; a dev stage takes no table over: delete it first`);
  }
}

/** Reserves what is wanted, or as many as the account has. */
function fitConcurrency(settings: StageSettings, { limit, unreserved, own }: Concurrency, found: Found): StageSettings {
  const { reservedConcurrency: wanted, isConcurrencyGiven } = settings;
  const available = Math.max(0, unreserved + own - KEPT_UNRESERVED);
  if (wanted <= available) return settings;
  const why = `the account's limit is ${limit}, of which ${KEPT_UNRESERVED} must stay unreserved and ${limit - unreserved - own} are reserved by others`;
  if (isConcurrencyGiven) {
    found.faults.push(`RESERVED_CONCURRENCY: expected at most ${available}: ${why}`);
    return settings;
  }
  const reservedConcurrency = available >= FEWEST_RESERVED ? available : 0;
  found.notes.push(
    reservedConcurrency === 0
      ? `No instances are reserved: ${why}. Other functions of the account can take all of them; ask AWS for more.`
      : `${reservedConcurrency} instances are reserved instead of ${wanted}: ${why}.`,
  );
  return { ...settings, reservedConcurrency };
}

/**
 * Looks for what a deployment would fail at, before it begins, and fits what is reserved to what the account has.
 *
 * @throws PreflightError (`PREFLIGHT_FAILED`) with all of it
 */
export async function preflight(context: PreflightContext): Promise<Preflight> {
  const { account, settings, nodeVersion } = context;
  const found: Found = { faults: [], notes: [] };
  if (Number.parseInt(nodeVersion, 10) < OLDEST_NODE) {
    found.faults.push(`Node.js: this is ${nodeVersion}, ${OLDEST_NODE} or later is needed`);
  }
  const accountId = await account.accountId();
  await checkBootstrap(context, accountId, found);
  await checkNames(context, found);
  const fitted = fitConcurrency(settings, await account.concurrency(`prism-gateway-${settings.stage}`), found);
  if (settings.stage === 'prod' && settings.gateway.CHAINS === undefined) {
    found.notes.push(
      'CHAINS is not set: anybody can raise the alarm OldestPending for a day, by a request for a chain that nobody serves.',
    );
  }
  if (found.faults.length > 0) throw new PreflightError(found.faults);
  return { settings: fitted, accountId, notes: found.notes };
}
