import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const INFRA = fileURLToPath(new URL('../../', import.meta.url));

/** Where things are. */
export const places = {
  /** The function's bundle, as `npx prism build:lambda` leaves it. */
  bundleDirectory: join(INFRA, '..', 'dist', 'lambda'),
  /** That of the functions that deliver webhooks. */
  webhooksDirectory: join(INFRA, '..', 'dist', 'lambda-webhooks'),
  /** The bundle of the hook that checks it. */
  hookDirectory: join(INFRA, 'dist', 'hook'),
  /** The CDK's own command. */
  cdk: join(INFRA, 'node_modules', '.bin', 'cdk'),
  /** A stage's settings, if there are any. */
  settingsFile: (stage: string) => join(INFRA, 'stages', `${stage}.env`),
  /** A stage's synthesised app. */
  outputDirectory: (stage: string) => join(INFRA, 'dist', stage),
} as const;
