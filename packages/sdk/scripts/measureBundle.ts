import { build } from 'esbuild';

/** The SDK's size in a front-end. */
export interface BundleSize {
  /** Minified, not compressed. */
  readonly bytes: number;
  /** Packages that came along, by name; none of ours. */
  readonly foreign: readonly string[];
}

function packageOf(path: string): string | undefined {
  // The last one is the package itself, wherever it is nested.
  return path
    .split('node_modules/')
    .slice(1)
    .at(-1)
    ?.match(/^(?:@[^/]+\/)?[^/]+/)?.[0];
}

/**
 * Bundles a module as a front-end would, without viem, which it shares with the rest of the page.
 *
 * @param source - the module's text, like `export { createStorageClient } from '@prism-gateway/sdk/storage'`
 * @param resolveDir - folder from which its imports are found
 */
export async function measureBundle(source: string, resolveDir: string): Promise<BundleSize> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: ['viem', 'viem/*'],
    logLevel: 'error',
  });
  // What was read, but left out as unused, weighs nothing.
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const names = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => packageOf(path));
  const foreign = [...new Set(names)].filter((name) => name !== undefined);
  return { bytes: outputFiles[0]?.contents.byteLength ?? 0, foreign };
}
