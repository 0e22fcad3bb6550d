import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createOpenApiDocument, OPEN_API_PLACEHOLDERS } from '@prism-gateway/gateway/bundling';
import { build, type Metafile } from 'esbuild';
import { bundleOptions, FUNCTION_ENTRY, LIGHT_FETCH } from './bundleOptions.ts';
import { findForbidden } from './checkInputs.ts';
import { embedWasm } from './embedWasm.ts';

/** Most bytes of the code that is loaded with the function. */
export const MAX_BUNDLE_BYTES = 440_000;

export interface FunctionBundle {
  /** The module; its handler is `index.handler`. It may load others beside it. */
  readonly file: string;
  /** Of what is loaded at once. */
  readonly bytes: number;
  readonly metafile: Metafile;
}

/** Where a bundle is written. */
export interface BundleFolders {
  /** The deployed code: the module, and the OpenAPI document beside it. */
  readonly code: string;
  /** The source map: for reading stack traces, not for deploying. */
  readonly maps: string;
}

function writeOpenApi(): string {
  return JSON.stringify(createOpenApiDocument({ ...OPEN_API_PLACEHOLDERS, withDevIssuer: false, withWebhooks: true }));
}

/** The module that a name of the metafile is, without its folder. */
const nameOf = (path: string) => basename(path);

/** Names the modules that are loaded with the function: what it imports at once, and what those do. */
function loadedWith(metafile: Metafile, entry: string): readonly string[] {
  const names = new Set([entry]);
  for (const path of names) {
    const imports = metafile.outputs[path]?.imports ?? [];
    for (const { path: imported, kind } of imports) if (kind === 'import-statement') names.add(imported);
  }
  return [...names].filter((path) => path in metafile.outputs);
}

/**
 * Builds the function: minified modules with libsecp256k1 inside them, and the OpenAPI document. What only administrators of webhooks call
 * is a module of its own, which is loaded with the first such call; it counts for nothing until then.
 *
 * @throws Error if what is loaded at once is too large, or a module holds what it must not
 */
export async function bundleFunction({ code, maps }: BundleFolders): Promise<FunctionBundle> {
  const { outfile: _, ...options } = bundleOptions;
  const { outputFiles, metafile } = await build({
    ...options,
    plugins: [...bundleOptions.plugins, embedWasm],
    entryPoints: { index: FUNCTION_ENTRY },
    inject: [LIGHT_FETCH],
    ...{ splitting: true, outdir: 'out', outExtension: { '.js': '.mjs' }, chunkNames: '[name]-[hash]' },
  });
  const entry = Object.keys(metafile.outputs).find((path) => nameOf(path) === 'index.mjs') ?? '';
  const bytes = loadedWith(metafile, entry).reduce((sum, path) => sum + (metafile.outputs[path]?.bytes ?? 0), 0);
  const faults = findForbidden(metafile);
  if (bytes > MAX_BUNDLE_BYTES) faults.push(`The bundle has ${bytes} bytes; at most ${MAX_BUNDLE_BYTES} are wanted.`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  await Promise.all([code, maps].map((folder) => rm(folder, { recursive: true, force: true })));
  await Promise.all([mkdir(code, { recursive: true }), mkdir(maps, { recursive: true })]);
  await Promise.all([
    ...outputFiles.map(({ path, contents }) =>
      writeFile(join(path.endsWith('.map') ? maps : code, nameOf(path)), contents),
    ),
    writeFile(join(code, 'openapi.json'), writeOpenApi()),
  ]);
  return { file: join(code, 'index.mjs'), bytes, metafile };
}
