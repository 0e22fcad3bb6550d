import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { DocsAsset } from '../../ports/gatewayPorts.ts';

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
} as const;

/** The console's own files. */
const pages = [
  ...['index.html', 'base.css', 'views.css', 'app.js', 'api.js', 'charts.js', 'dialog.js', 'follow.js', 'format.js'],
  ...['monitors.js', 'overview.js', 'params.js', 'parts.js', 'payments.js', 'relayers.js', 'request.js', 'requests.js'],
  ...['router.js', 'search.js', 'state.js', 'story.js', 'system.js', 'webhooks.js'],
];

/** The files that there are, by the names that they are asked for by: a name from outside only ever picks one. */
function listFiles(): ReadonlyMap<string, string> {
  const { resolve } = createRequire(import.meta.url);
  const index = resolve('@prism-gateway/console/page/index.html');
  const fromConsole = createRequire(index);
  return new Map([
    ...pages.map((name) => [name, join(dirname(index), name)] as const),
    // Preact, its hooks and its templates in one file without imports.
    ['preact.js', join(dirname(fromConsole.resolve('htm')), '../preact/standalone.module.js')],
    ['uPlot.iife.min.js', fromConsole.resolve('uplot/dist/uPlot.iife.min.js')],
    ['uPlot.min.css', fromConsole.resolve('uplot/dist/uPlot.min.css')],
  ]);
}

/**
 * Makes the source of the console's files, read from their packages when they are asked for.
 *
 * @returns a function from a file's name to the file, or undefined if there is none of that name
 */
export function createConsoleAssets(): (name: string) => Promise<DocsAsset | undefined> {
  let files: ReadonlyMap<string, string> | undefined;
  return async function findConsoleAsset(name) {
    files ??= listFiles();
    const file = files.get(name);
    if (file === undefined) return undefined;
    // The names above have these endings.
    const ending = name.slice(name.lastIndexOf('.') + 1) as keyof typeof types;
    return { contentType: types[ending], body: new Uint8Array(await readFile(file)) };
  };
}
