import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './settings.ts';

/** Bits below which a key may be guessed; 16 random bytes have 128. */
const LEAST_BITS = 64;

/** How surprising each character is, by how often it occurs, in bits. */
function bitsACharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Pairs of neighbours, each once: what repeats itself adds nothing. */
const countPairs = (text: string) =>
  new Set(Array.from(text, (character, i) => `${text[i - 1] ?? ''}${character}`)).size;

/** Whether a key looks as if no machine had drawn it by lot. */
const isWeak = (key: string) => bitsACharacter(key) * countPairs(key) < LEAST_BITS;

function keyWarnings({ adminKeys, adminReadKeys, CURSOR_SECRET, IDENTITY_APP_SECRET }: Settings): string[] {
  const keys = [
    ...adminKeys.map((key) => ['ADMIN_API_KEY', key] as const),
    ...adminReadKeys.map((key) => ['ADMIN_READ_KEYS', key] as const),
    ['CURSOR_SECRET', CURSOR_SECRET] as const,
    ['IDENTITY_APP_SECRET', IDENTITY_APP_SECRET] as const,
  ];
  const weak = keys.flatMap(([name, key]) => (key !== undefined && isWeak(key) ? [name] : []));
  return [...new Set(weak)].map(
    (name) => `${name} can be guessed: make it of random bytes, like openssl rand -hex 32 does.`,
  );
}

const LIMITS = [
  'RATE_LIMIT_WRITES',
  'RATE_LIMIT_WRITE_BYTES',
  'RATE_LIMIT_READ_BYTES',
  'RATE_LIMIT_READS',
  'RATE_LIMIT_SIGN',
  'RATE_LIMIT_CLAIMS',
  'RATE_LIMIT_REPORTS',
  'RATE_LIMIT_AUTH_FAILURES',
  'RATE_LIMIT_ADMIN_FAILURES',
  'MAX_CONNECTIONS',
  'MAX_CONNECTIONS_PER_PEER',
  'MIN_FREE_DISK_BYTES',
  'MAX_USER_BYTES',
  'MAX_PENDING_BYTES',
] as const satisfies readonly (keyof Settings)[];

/** Databases of another stage, which this one neither reads nor copies. */
function otherStages({ STORE, STAGE, DATA_DIR }: Settings): readonly string[] {
  if (STORE !== 'sqlite') return [];
  const [other] = ['dev', 'prod'].filter(
    (stage) => stage !== STAGE && existsSync(join(DATA_DIR, `gateway-${stage}.db`)),
  );
  if (other === undefined) return [];
  return [
    `DATA_DIR holds the database of STAGE=${other}, which is left alone: this is STAGE=${STAGE}, with a database of its own. Is the stage right?`,
  ];
}

/**
 * Names what an operator should change before strangers come, each with what to do. Only `prod` is warned, but for databases.
 *
 * @returns sentences, which repeat no secret
 * @see docs/specification.md OPERATE-7
 */
export function findStartWarnings(settings: Settings): readonly string[] {
  const others = otherStages(settings);
  if (settings.STAGE !== 'prod') return others;
  const isPlain = settings.PUBLIC_URL?.startsWith('http://') === true;
  return [
    ...others,
    ...(settings.IDENTITY_PROVIDER === 'privy'
      ? ['IDENTITY_PROVIDER=privy: a revoked token is not seen, and holds until IDENTITY_MAX_TOKEN_AGE_SECONDS.']
      : []),
    ...keyWarnings(settings),
    ...(isPlain
      ? ['PUBLIC_URL is http: tokens and presigned URLs can be read on the way; serve https and say so in it.']
      : []),
    ...LIMITS.filter((name) => settings[name] === 0).map(
      (name) => `${name} is 0, which is off: set it, unless something in front bounds what strangers send.`,
    ),
  ];
}
