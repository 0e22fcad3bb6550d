import { resolve } from 'node:path';
import { DEV_ADMIN_KEY, type Settings } from './settings.ts';

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

function storedAt({ STORE, DATA_DIR, tables }: Settings): string {
  if (STORE === 'sqlite') return resolve(DATA_DIR);
  return `DynamoDB: ${Object.values(tables).join(', ')}; objects and secrets: ${resolve(DATA_DIR)}`;
}

/** Writes what a person wants to see at start: where it answers, where the data are, what to try. */
export function writeBanner(facts: BannerFacts): string {
  const { settings, publicUrl } = facts;
  const defaults = developmentDefaults(facts);
  const inForce = settings.STAGE === 'dev' && defaults.length > 0 ? defaults.join(', ') : 'none';
  return `
  Prism Gateway is ready (stage ${settings.STAGE}).

  Address        ${publicUrl}
  API reference  ${publicUrl}/docs
  Data           ${storedAt(settings)}
  Dev defaults   ${inForce}

  Try next, in another terminal:
    npm run walkthrough
    curl -s ${publicUrl}/ready
    npm run token -- alice

  Ctrl-C stops it.
`;
}
