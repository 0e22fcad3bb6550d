import { resolve } from 'node:path';
import { answersAdminLocally } from './answersAdminLocally.ts';
import { DEV_ADMIN_KEY, type Settings, type Store } from './settings.ts';

interface BannerFacts {
  readonly settings: Settings;
  readonly publicUrl: string;
  readonly usesDevIssuer: boolean;
}

function developmentDefaults({ settings, usesDevIssuer }: BannerFacts): string[] {
  const defaults = [];
  if (settings.adminKeys.includes(DEV_ADMIN_KEY)) defaults.push(`admin key "${DEV_ADMIN_KEY}"`);
  if (usesDevIssuer) defaults.push('built-in identity issuer (anyone gets a token for any user)');
  if (settings.STORAGE_BUCKET === undefined) defaults.push('objects on the local disk');
  return defaults;
}

const PLACES: Readonly<Record<Store, (settings: Settings) => string>> = {
  sqlite: () => '',
  postgres: ({ DATABASE_URL: url }) =>
    `PostgreSQL: ${url === undefined ? 'embedded' : new URL(url.replace(/,[^/?]*/, '')).host}; the rest: `,
  dynamodb: ({ tables }) => `DynamoDB: ${Object.values(tables).join(', ')}; objects and secrets: `,
};

const storedAt = (settings: Settings) => `${PLACES[settings.STORE](settings)}${resolve(settings.DATA_DIR)}`;

const DEFAULT_URL = 'http://127.0.0.1:8787';

/** Three commands for another terminal, if nothing of this one's environment is set. */
function commandsToTry({ settings, publicUrl, usesDevIssuer }: BannerFacts): string[] {
  const where = publicUrl === DEFAULT_URL ? [] : [`--url ${publicUrl}`];
  const play = usesDevIssuer ? where : [...where, '--token ACCESS_TOKEN'];
  const key = settings.adminKeys.includes(DEV_ADMIN_KEY) ? '' : 'ADMIN_API_KEY=… ';
  return [
    `${key}${['npx prism walkthrough', ...play].join(' ')}`,
    `curl -s ${publicUrl}/ready`,
    usesDevIssuer ? ['npx prism token alice', ...where].join(' ') : `curl -s ${publicUrl}/openapi.json`,
  ];
}

/** Writes what a person wants to see at start: where it answers, where the data are, what to try. */
export function writeBanner(facts: BannerFacts): string {
  const { settings, publicUrl } = facts;
  const defaults = developmentDefaults(facts);
  const reach = answersAdminLocally(settings)
    ? "\n  Reach          the admin key is everybody's: /admin and tokens are answered to private networks alone"
    : '';
  const inForce = settings.STAGE === 'dev' && defaults.length > 0 ? defaults.join(', ') : 'none';
  return `
  Prism Gateway is ready (stage ${settings.STAGE}).

  Address        ${publicUrl}
  API reference  ${publicUrl}/docs
  Console        ${publicUrl}/console
  Data           ${storedAt(settings)}
  Dev defaults   ${inForce}${reach}

  Try next, in another terminal:
    ${commandsToTry(facts).join('\n    ')}

  Ctrl-C stops it.
`;
}
