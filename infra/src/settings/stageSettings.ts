import {
  DEPLOYED_CEILINGS,
  DEPLOYED_LIMITS,
  parseFunctionSettings,
  SettingsError,
  type TableNames,
} from '@prism-gateway/gateway/deployment';
import {
  GATEWAY_SETTINGS,
  type GatewaySettingName,
  type GivenSettings,
  type StackSettingName,
} from './knownSettings.ts';
import {
  readBucketName,
  readCertificateArn,
  readChoice,
  readEmail,
  readHostName,
  readOrigins,
  readRanges,
  readRegion,
  readRevision,
  readSecretArn,
  readStreamArn,
  readWhole,
} from './readers.ts';
import { StageSettingsError } from './stageSettingsError.ts';

/** A host name of one's own, and the certificate that shows it is. */
export interface DomainSettings {
  readonly name: string;
  readonly certificateArn: string;
}

/** Settings of the edge in front of the function. */
export interface EdgeSettings {
  /** Calls of one address in five minutes. */
  readonly ratePerAddress: number;
  /** CIDR ranges that are not counted. */
  readonly trustedAddresses: readonly string[];
}

/** All that a stage's stacks are made from. */
export interface StageSettings {
  readonly stage: 'dev' | 'prod';
  readonly region?: string | undefined;
  /** Origins of web pages that may reach the bucket: production's and the local ones. */
  readonly bucketOrigins: readonly string[];
  readonly identityAppSecretArn?: string | undefined;
  readonly alarmEmail?: string | undefined;
  /** The edge's. */
  readonly domain?: DomainSettings | undefined;
  readonly edge?: EdgeSettings | undefined;
  readonly bucketName?: string | undefined;
  readonly hasWebhooks: boolean;
  /** Of a requests' table that was restored; undefined: of the stack's own. */
  readonly requestsStreamArn?: string | undefined;
  /** Most units a second of each table and of each index; 0: no limit. */
  readonly tableCeiling: { readonly writeUnits: number; readonly readUnits: number };
  /** 0: none is reserved, and there is no limit but the account's. */
  readonly reservedConcurrency: number;
  /** Whether somebody chose that number: else it is as many as the account has, if those are fewer. */
  readonly isConcurrencyGiven: boolean;
  readonly logRetentionDays: number;
  readonly noncurrentVersionDays: number;
  readonly alarms: {
    readonly oldestPendingSeconds: number;
    readonly claimOverdueSeconds: number;
    readonly latencyMs: number;
    /** 0: no alarm and no budget. */
    readonly dailyBudgetUsd: number;
  };
  /** Names of the tables that the function uses. */
  readonly tables: TableNames;
  /** Any text; with another one, the function's instances start anew and read the secrets again. */
  readonly secretsRevision?: string | undefined;
  /** Settings for the gateway, as text. */
  readonly gateway: Readonly<Partial<Record<GatewaySettingName, string>>>;
}

const RETENTION_DAYS = ['7', '14', '30', '90', '180', '365'] as const;
const LOCAL_ORIGINS = ['localhost', '127.0.0.1']
  .flatMap((host) => [`http://${host}:3000`, `http://${host}:5173`])
  .join();

/** Stands in for what is made or read on AWS only, so that the gateway's own check can be had here. */
const KEPT_ON_AWS = {
  STORE: 'dynamodb',
  STORAGE_BUCKET: 'made-by-the-stack',
  ADMIN_API_KEY: 'x'.repeat(48),
  CURSOR_SECRET: 'x'.repeat(48),
} as const;

type Fault = (name: StackSettingName, expected: string) => void;

/** Region of CloudFront's certificates and firewalls. @see https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cnames-and-https-requirements.html */
export const EDGE_REGION = 'us-east-1';

function readDomain(given: GivenSettings, fault: Fault): DomainSettings | undefined {
  const name = readHostName(given, 'DOMAIN_NAME', fault);
  const certificateArn = readCertificateArn(given, 'CERTIFICATE_ARN', fault);
  if (given.DOMAIN_NAME && !given.CERTIFICATE_ARN) fault('CERTIFICATE_ARN', 'one, with DOMAIN_NAME');
  if (given.CERTIFICATE_ARN && !given.DOMAIN_NAME) fault('DOMAIN_NAME', 'one, with CERTIFICATE_ARN');
  if (name === undefined || certificateArn === undefined) return undefined;
  // CloudFront finds no other, at the very end of a deployment.
  if (certificateArn.split(':')[3] !== EDGE_REGION) fault('CERTIFICATE_ARN', `a certificate of ${EDGE_REGION}`);
  return { name, certificateArn };
}

/** A function's own address has no other name. */
const EDGE_SETTINGS = ['DOMAIN_NAME', 'CERTIFICATE_ARN', 'EDGE_RATE_PER_ADDRESS', 'EDGE_TRUSTED_ADDRESSES'] as const;
/** WAF counts from 10 on. */
const EDGE_RATE = { min: 10, max: 2_000_000, fallback: DEPLOYED_LIMITS.callsInFiveMinutes } as const;

function readEntrance(given: GivenSettings, isProd: boolean, fault: Fault): Pick<StageSettings, 'domain' | 'edge'> {
  const isOn = readChoice(given, 'EDGE', { choices: ['on', 'off'], fallback: isProd ? 'on' : 'off' }, fault) === 'on';
  if (!isOn) {
    for (const name of EDGE_SETTINGS) if (given[name]) fault(name, 'none, with EDGE=off');
    return { domain: undefined, edge: undefined };
  }
  const domain = readDomain(given, fault);
  const edge = {
    ratePerAddress: readWhole(given, 'EDGE_RATE_PER_ADDRESS', EDGE_RATE, fault),
    trustedAddresses: readRanges(given, 'EDGE_TRUSTED_ADDRESSES', fault),
  };
  return { domain, edge };
}

function readBucketOrigins(given: GivenSettings, stage: string, fault: Fault): string[] {
  const production = readOrigins(given, 'PRODUCTION_ORIGIN', fault);
  if (stage === 'prod' && !given.PRODUCTION_ORIGIN) {
    fault('PRODUCTION_ORIGIN', 'in prod, the origin of your web app, like https://app.example.org');
  }
  const local = readOrigins({ LOCAL_ORIGINS, ...given }, 'LOCAL_ORIGINS', fault);
  return [...production, ...local];
}

/** Reads what the stack itself needs. */
function readStack(given: GivenSettings, fault: Fault) {
  const stage = readChoice(given, 'STAGE', { choices: ['dev', 'prod'], fallback: 'dev' }, fault);
  const isProd = stage === 'prod';
  const region = readRegion(given, 'REGION', fault);
  const whole = (name: StackSettingName, min: number, max: number, fallback: number) =>
    readWhole(given, name, { min, max, fallback }, fault);
  const days = isProd ? '90' : '14';
  return {
    stage,
    region,
    bucketOrigins: readBucketOrigins(given, stage, fault),
    identityAppSecretArn: readSecretArn(given, 'IDENTITY_APP_SECRET_ARN', fault),
    secretsRevision: readRevision(given, 'SECRETS_REVISION', fault),
    alarmEmail: readEmail(given, 'ALARM_EMAIL', fault),
    ...readEntrance(given, isProd, fault),
    bucketName: readBucketName(given, 'BUCKET_NAME', fault),
    hasWebhooks: readChoice(given, 'WEBHOOKS', { choices: ['on', 'off'], fallback: 'off' }, fault) === 'on',
    requestsStreamArn: readStreamArn(given, 'REQUESTS_STREAM_ARN', fault),
    tableCeiling: {
      writeUnits: whole('MAX_TABLE_WRITE_UNITS', 0, 40_000, isProd ? DEPLOYED_CEILINGS.writeUnits : 400),
      readUnits: whole('MAX_TABLE_READ_UNITS', 0, 40_000, isProd ? 8000 : 800),
    },
    reservedConcurrency: whole('RESERVED_CONCURRENCY', 0, 10_000, isProd ? DEPLOYED_CEILINGS.instances : 0),
    isConcurrencyGiven: Boolean(given.RESERVED_CONCURRENCY),
    logRetentionDays: Number(
      readChoice(given, 'LOG_RETENTION_DAYS', { choices: RETENTION_DAYS, fallback: days }, fault),
    ),
    noncurrentVersionDays: whole('NONCURRENT_VERSION_DAYS', 1, 3650, isProd ? 90 : 7),
    alarms: {
      oldestPendingSeconds: whole('OLDEST_PENDING_ALARM_SECONDS', 60, 86_400, 600),
      claimOverdueSeconds: whole('CLAIM_OVERDUE_ALARM_SECONDS', 60, 86_400, 300),
      dailyBudgetUsd: whole('DAILY_BUDGET_USD', 0, 1_000_000, isProd ? 20 : 5),
      latencyMs: whole('LATENCY_ALARM_MS', 100, 29_000, 2000),
    },
  };
}

/** Asks the gateway itself whether it would start with these. */
function readGateway(given: GivenSettings, stage: string, faults: string[]) {
  const gateway = Object.fromEntries(GATEWAY_SETTINGS.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
  try {
    return { gateway, parsed: parseFunctionSettings({ ...KEPT_ON_AWS, STAGE: stage, ...gateway }) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}

/**
 * Parses what a stage is to be deployed with. What goes to the gateway is checked by the gateway's own code, so that a function
 * that would not start is not deployed.
 *
 * @param given - texts by name; an empty one counts as absent
 * @throws StageSettingsError (`STAGE_SETTINGS_INVALID`) that names every fault
 */
export function parseStageSettings(given: GivenSettings): StageSettings {
  const faults: string[] = [];
  const stack = readStack(given, (name, expected) => faults.push(`${name}: expected ${expected}`));
  const evaluated = readGateway(given, stack.stage, faults);
  if (evaluated === undefined || faults.length > 0) throw new StageSettingsError(faults);
  const { gateway, parsed } = evaluated;
  return { ...stack, gateway, tables: parsed.tables };
}
