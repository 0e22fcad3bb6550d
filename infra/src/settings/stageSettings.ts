import { parseFunctionSettings, SettingsError, type TableNames } from '@prism-gateway/gateway/deployment';
import {
  GATEWAY_SETTINGS,
  type GatewaySettingName,
  type GivenSettings,
  type StackSettingName,
} from './knownSettings.ts';
import {
  readCertificateArn,
  readChoice,
  readEmail,
  readHostName,
  readOrigins,
  readRegion,
  readRevision,
  readSecretArn,
  readWhole,
} from './readers.ts';
import { StageSettingsError } from './stageSettingsError.ts';

/** All that a stage's stack is made from. */
export interface StageSettings {
  readonly stage: 'dev' | 'prod';
  readonly region?: string | undefined;
  /** Origins of web pages that may reach the bucket: production's and the local ones. */
  readonly bucketOrigins: readonly string[];
  readonly identityAppSecretArn?: string | undefined;
  readonly alarmEmail?: string | undefined;
  readonly domain?: { readonly name: string; readonly certificateArn: string } | undefined;
  /** Calls a second, and at once. */
  readonly throttle: { readonly rate: number; readonly burst: number };
  /** 0: none is reserved, and there is no limit but the account's. */
  readonly reservedConcurrency: number;
  readonly logRetentionDays: number;
  readonly noncurrentVersionDays: number;
  readonly alarms: { readonly oldestPendingSeconds: number; readonly latencyMs: number };
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

/** Stands in for what is made or read on AWS only, so that the gateway's own judgement can be had here. */
const KEPT_ON_AWS = {
  STORE: 'dynamodb',
  STORAGE_BUCKET: 'made-by-the-stack',
  ADMIN_API_KEY: 'x'.repeat(48),
  CURSOR_SECRET: 'x'.repeat(48),
} as const;

type Fault = (name: StackSettingName, expected: string) => void;

function readDomain(given: GivenSettings, fault: Fault): StageSettings['domain'] {
  const name = readHostName(given, 'DOMAIN_NAME', fault);
  const certificateArn = readCertificateArn(given, 'CERTIFICATE_ARN', fault);
  if (given.DOMAIN_NAME && !given.CERTIFICATE_ARN) fault('CERTIFICATE_ARN', 'one, with DOMAIN_NAME');
  if (given.CERTIFICATE_ARN && !given.DOMAIN_NAME) fault('DOMAIN_NAME', 'one, with CERTIFICATE_ARN');
  return name !== undefined && certificateArn !== undefined ? { name, certificateArn } : undefined;
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
  const whole = (name: StackSettingName, min: number, max: number, fallback: number) =>
    readWhole(given, name, { min, max, fallback }, fault);
  const days = isProd ? '90' : '14';
  return {
    stage,
    region: readRegion(given, 'REGION', fault),
    bucketOrigins: readBucketOrigins(given, stage, fault),
    identityAppSecretArn: readSecretArn(given, 'IDENTITY_APP_SECRET_ARN', fault),
    secretsRevision: readRevision(given, 'SECRETS_REVISION', fault),
    alarmEmail: readEmail(given, 'ALARM_EMAIL', fault),
    domain: readDomain(given, fault),
    throttle: { rate: whole('THROTTLE_RATE', 1, 100_000, 1000), burst: whole('THROTTLE_BURST', 1, 50_000, 500) },
    reservedConcurrency: whole('RESERVED_CONCURRENCY', 0, 10_000, isProd ? 100 : 0),
    logRetentionDays: Number(
      readChoice(given, 'LOG_RETENTION_DAYS', { choices: RETENTION_DAYS, fallback: days }, fault),
    ),
    noncurrentVersionDays: whole('NONCURRENT_VERSION_DAYS', 1, 3650, isProd ? 90 : 7),
    alarms: {
      oldestPendingSeconds: whole('OLDEST_PENDING_ALARM_SECONDS', 60, 86_400, 600),
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
 * Parses what a stage is to be deployed with. What goes to the gateway is judged by the gateway's own code, so that a function
 * that would not start is not deployed.
 *
 * @param given - texts by name; an empty one counts as absent
 * @throws StageSettingsError (`STAGE_SETTINGS_INVALID`) that names every fault
 */
export function parseStageSettings(given: GivenSettings): StageSettings {
  const faults: string[] = [];
  const stack = readStack(given, (name, expected) => faults.push(`${name}: expected ${expected}`));
  const judged = readGateway(given, stack.stage, faults);
  if (judged === undefined || faults.length > 0) throw new StageSettingsError(faults);
  const { gateway, parsed } = judged;
  return { ...stack, gateway, tables: parsed.tables };
}
