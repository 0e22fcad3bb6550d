import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenApiDocument, OPEN_API_PLACEHOLDERS } from '@prism-gateway/gateway/bundling';
import { build, type Metafile } from 'esbuild';
import { bundleOptions, FUNCTION_ENTRY, LIGHT_FETCH } from './bundleOptions.ts';
import { findForbidden } from './checkInputs.ts';
import { embedWasm } from './embedWasm.ts';

/** Most bytes of the function's code. */
export const MAX_BUNDLE_BYTES = 420_000;

export interface FunctionBundle {
  /** The module; its handler is `index.handler`. */
  readonly file: string;
  readonly bytes: number;
  readonly metafile: Metafile;
}

/** Where a bundle is written. */
export interface BundleFolders {
  /** What is deployed: the module, and the OpenAPI document beside it. */
  readonly code: string;
  /** The source map: for reading stack traces, not for deploying. */
  readonly maps: string;
}

function writeOpenApi(): string {
  return JSON.stringify(createOpenApiDocument({ ...OPEN_API_PLACEHOLDERS, withDevIssuer: false }));
}

/**
 * Builds the function: one minified module with libsecp256k1 inside it, and the OpenAPI document.
 *
 * @throws Error where the bundle is too large, or holds what it must not
 */
export async function bundleFunction({ code, maps }: BundleFolders): Promise<FunctionBundle> {
  const { outputFiles, metafile } = await build({
    ...bundleOptions,
    plugins: [...bundleOptions.plugins, embedWasm],
    entryPoints: [FUNCTION_ENTRY],
    inject: [LIGHT_FETCH],
  });
  const module = outputFiles.find(({ path }) => path.endsWith('.mjs'))?.contents ?? new Uint8Array(0);
  const map = outputFiles.find(({ path }) => path.endsWith('.map'))?.contents ?? new Uint8Array(0);
  const faults = findForbidden(metafile);
  if (module.byteLength > MAX_BUNDLE_BYTES) {
    faults.push(`The bundle has ${module.byteLength} bytes; at most ${MAX_BUNDLE_BYTES} are wanted.`);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const file = join(code, 'index.mjs');
  await Promise.all([mkdir(code, { recursive: true }), mkdir(maps, { recursive: true })]);
  await Promise.all([
    writeFile(file, module),
    writeFile(join(code, 'openapi.json'), writeOpenApi()),
    writeFile(join(maps, 'index.mjs.map'), map),
  ]);
  return { file, bytes: module.byteLength, metafile };
}
