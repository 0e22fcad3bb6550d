import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { leaveOut } from './leaveOut.ts';

const source = (path: string) => fileURLToPath(new URL(`../../packages/gateway/src/${path}`, import.meta.url));

/** The function's entry. */
export const FUNCTION_ENTRY = source('entry/lambda.ts');

/** Stands in for Node's own `Headers` and `Response`. */
export const LIGHT_FETCH = source('entry/lambda/lightFetch.ts');

/**
 * How code is bundled for Lambda: one minified module that Node 24 imports, with its source map apart.
 *
 * - ES modules if a package has them, so that what is not used stays out.
 * - The AWS SDK's default chain of credentials gives way to the environment, where Lambda puts them.
 * - ASCII only: V8 keeps such a source at a byte a character.
 */
export const bundleOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  charset: 'ascii',
  mainFields: ['module', 'main'],
  conditions: ['module'],
  alias: { '@aws-sdk/credential-provider-node': source('entry/lambda/environmentCredentials.ts') },
  plugins: [leaveOut],
  legalComments: 'none',
  sourcemap: 'external',
  outfile: 'index.mjs',
  metafile: true,
  write: false,
  logLevel: 'warning',
} satisfies BuildOptions;
