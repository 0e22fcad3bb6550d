import { type Environment, SettingsError } from '@prism-gateway/node/settings';
import { parseSettings, type Settings } from '../settings.ts';

/** The gateway's settings, those that a function cannot do without among them, and its own. */
export interface FunctionSettings extends Settings {
  readonly STORAGE_BUCKET: string;
  readonly CURSOR_SECRET: string;
  /** Base path of a custom domain's mapping, with its slash; empty: none. */
  readonly basePath: string;
  /** The secrets that the edge may send; none: there is no edge, and everybody may call. */
  readonly originSecrets: readonly string[];
  /** Whether functions deliver webhooks: else none can be registered. */
  readonly hasWebhooks: boolean;
}

/** As of the cursors' secret. */
const MIN_ORIGIN_SECRET = 32;

const readOriginSecrets = ({ ORIGIN_SECRET }: Environment) =>
  (ORIGIN_SECRET ?? '').split(',').flatMap((part) => part.trim() || []);

const basePathForm = /^(?:\/[A-Za-z0-9._~-]+)+$/;

/**
 * A function has no disk and no memory of its own: what would be generated or kept there must be given. And it is on the internet in
 * every stage, where nobody may be let in by a default of the admin key that everybody knows.
 */
function missingFaults(given: Environment): string[] {
  const { STORE, STORAGE_BUCKET, ADMIN_API_KEY, CURSOR_SECRET, IDENTITY_PROVIDER, IDENTITY_ISSUER, BASE_PATH } = given;
  const faults: string[] = [];
  if (STORE && STORE !== 'dynamodb') faults.push('STORE: expected dynamodb on Lambda');
  if (!STORAGE_BUCKET) faults.push('STORAGE_BUCKET: required on Lambda');
  if (!ADMIN_API_KEY) faults.push('ADMIN_API_KEY: required on Lambda');
  if (!CURSOR_SECRET) faults.push('CURSOR_SECRET: required on Lambda, the same for all instances');
  if (!IDENTITY_ISSUER && IDENTITY_PROVIDER !== 'privy') {
    faults.push('IDENTITY_ISSUER: required on Lambda: the URL of your OpenID Connect provider');
  }
  if (readOriginSecrets(given).some((secret) => secret.length < MIN_ORIGIN_SECRET)) {
    faults.push(`ORIGIN_SECRET: expected ${MIN_ORIGIN_SECRET} characters or more, or two such with a comma between`);
  }
  if (BASE_PATH && !basePathForm.test(BASE_PATH)) {
    faults.push('BASE_PATH: expected a path like /v1, without a slash at its end');
  }
  return faults;
}

function parseOrFaults(environment: Environment): Settings | SettingsError {
  try {
    return parseSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
}

/**
 * Parses the settings of a function: the gateway's, of which it needs some more than a server does, `BASE_PATH` and `ORIGIN_SECRET`.
 *
 * @throws SettingsError that names every fault and repeats no value
 */
export function parseFunctionSettings(environment: Environment): FunctionSettings {
  const missing = missingFaults(environment);
  // A function has no development issuer, and wants a key of its own: it may be behind an edge in each stage.
  const settings = parseOrFaults({ ...environment, STORE: 'dynamodb', ALLOW_DEV_IN_PUBLIC: 'true' });
  if (settings instanceof SettingsError) {
    // A fault that both name is listed once.
    const others = settings.faults.filter((fault) => !missing.some((own) => own.split(':')[0] === fault.split(':')[0]));
    throw new SettingsError([...others, ...missing]);
  }
  const { STORAGE_BUCKET, CURSOR_SECRET } = settings;
  if (missing.length > 0 || STORAGE_BUCKET === undefined || CURSOR_SECRET === undefined)
    throw new SettingsError(missing);
  return {
    ...settings,
    STORAGE_BUCKET,
    CURSOR_SECRET,
    basePath: environment.BASE_PATH ?? '',
    originSecrets: readOriginSecrets(environment),
    hasWebhooks: environment.WEBHOOKS !== 'off',
  };
}
