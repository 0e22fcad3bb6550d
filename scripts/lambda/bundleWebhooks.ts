import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BundleFolders, FunctionBundle } from './bundleFunction.ts';
import { bundleOptions } from './bundleOptions.ts';
import { findForbidden } from './checkInputs.ts';

/** Most bytes of the code of the functions that deliver webhooks. */
export const MAX_WEBHOOKS_BYTES = 200_000;

const ENTRY = fileURLToPath(new URL('../../packages/gateway/src/entry/webhooks.ts', import.meta.url));

/**
 * Builds the functions that deliver webhooks: one minified module for both.
 *
 * @throws Error if the bundle is too large, or holds what it must not
 */
export async function bundleWebhooks({ code, maps }: BundleFolders): Promise<FunctionBundle> {
  const { outputFiles, metafile } = await build({ ...bundleOptions, entryPoints: [ENTRY] });
  const read = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.contents ?? new Uint8Array(0);
  const [module, map] = [read('.mjs'), read('.map')];
  const faults = findForbidden(metafile);
  if (module.byteLength > MAX_WEBHOOKS_BYTES) {
    faults.push(`The bundle has ${module.byteLength} bytes; at most ${MAX_WEBHOOKS_BYTES} are wanted.`);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  await Promise.all([mkdir(code, { recursive: true }), mkdir(maps, { recursive: true })]);
  const file = join(code, 'index.mjs');
  await Promise.all([writeFile(file, module), writeFile(join(maps, 'index.mjs.map'), map)]);
  return { file, bytes: module.byteLength, metafile };
}
