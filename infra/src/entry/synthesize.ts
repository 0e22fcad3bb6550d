import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StageSettings } from '../settings/stageSettings.ts';
import { places } from './places.ts';

/** The function's bundle is not there. */
export class BundleMissingError extends Error {
  override readonly name = 'BundleMissingError';
  readonly code = 'BUNDLE_MISSING';

  constructor(directory: string) {
    super(`The function's bundle is not in ${directory}. Build it first: npx prism build:lambda`);
  }
}

/**
 * Writes a stage's app: its template, and the assets that go with it.
 *
 * @param bundleDirectory - where the function's bundle is
 * @returns the directory
 * @throws BundleMissingError (`BUNDLE_MISSING`); the construct library's own errors if a rule is broken
 */
export async function synthesize(settings: StageSettings, bundleDirectory = places.bundleDirectory): Promise<string> {
  for (const directory of [bundleDirectory, places.webhooksDirectory]) {
    if (!existsSync(join(directory, 'index.mjs'))) throw new BundleMissingError(directory);
  }
  const outputDirectory = places.outputDirectory(settings.stage);
  rmSync(outputDirectory, { recursive: true, force: true });
  // It takes seconds to load: not for `--help`, and not for a bad setting.
  const [{ createGatewayApp }, { bundleHook }] = await Promise.all([
    import('../stack/createGatewayApp.ts'),
    import('../hook/bundleHook.ts'),
  ]);
  const { hookDirectory, webhooksDirectory } = places;
  await bundleHook(hookDirectory);
  createGatewayApp({ settings, bundleDirectory, hookDirectory, webhooksDirectory, outputDirectory }).synth();
  return outputDirectory;
}
