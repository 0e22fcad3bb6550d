import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Bundles the pre-traffic hook for Lambda. The AWS SDK stays out: Lambda's own runtime has it.
 *
 * @param folder - where `index.mjs` is written
 * @see https://docs.aws.amazon.com/lambda/latest/dg/lambda-nodejs.html
 */
export async function bundleHook(folder: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('./handler.ts', import.meta.url))],
    outfile: join(folder, 'index.mjs'),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: ['@aws-sdk/*', '@smithy/*'],
    logLevel: 'warning',
  });
}
