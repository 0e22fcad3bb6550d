import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of its own with a file in the place of the function's bundle, and room for what is synthesised. */
export interface BundleStandIn extends Disposable {
  readonly bundleDirectory: string;
  readonly hookDirectory: string;
  readonly webhooksDirectory: string;
  readonly outputDirectory: (name: string) => string;
}

/** Makes it. The template does not depend on what the bundle holds but for a hash. */
export function createBundleStandIn(): BundleStandIn {
  const directory = mkdtempSync(join(tmpdir(), 'prism-infra-'));
  const bundleDirectory = mkdtempSync(join(directory, 'bundle-'));
  writeFileSync(join(bundleDirectory, 'index.mjs'), 'export const handler = async () => ({ statusCode: 200 });\n');
  return {
    bundleDirectory,
    // Of the bundles, the template differs in a hash only.
    hookDirectory: bundleDirectory,
    webhooksDirectory: bundleDirectory,
    outputDirectory: (name) => join(directory, name),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
