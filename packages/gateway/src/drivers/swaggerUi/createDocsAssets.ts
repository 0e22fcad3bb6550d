import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { DocsAsset } from '../../ports/gatewayPorts.ts';

type Body = Uint8Array<ArrayBuffer>;

interface AssetFile {
  readonly contentType: string;
  readonly url: URL;
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** The files there are. A name from outside only ever picks one of them: it never becomes part of a path. */
function listFiles(): ReadonlyMap<string, AssetFile> {
  const own = (name: string) => new URL(`./page/${name}`, import.meta.url);
  const packaged = pathToFileURL(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const swaggerUi = (name: string) => new URL(name, packaged);
  return new Map([
    ['index.html', { contentType: HTML, url: own('index.html') }],
    ['home.html', { contentType: HTML, url: own('home.html') }],
    ['home.css', { contentType: STYLE, url: own('home.css') }],
    ['init.js', { contentType: SCRIPT, url: own('init.js') }],
    ['page.css', { contentType: STYLE, url: own('page.css') }],
    ['icon.svg', { contentType: 'image/svg+xml', url: own('icon.svg') }],
    ['swagger-ui.css', { contentType: STYLE, url: swaggerUi('swagger-ui.css') }],
    ['swagger-ui-bundle.js', { contentType: SCRIPT, url: swaggerUi('swagger-ui-bundle.js') }],
  ]);
}

/**
 * Makes the source of the API reference's files: our own page, and Swagger UI from its installed package.
 *
 * A file is read when it is asked for. Answers under way share one copy of it, and none is kept after them: the largest
 * has nearly two megabytes, and is asked for once an hour by a reader.
 *
 * @returns a function from a file's name to the file, or undefined if there is none of that name
 */
export function createDocsAssets(): (name: string) => Promise<DocsAsset | undefined> {
  let files: ReadonlyMap<string, AssetFile> | undefined;
  const reading = new Map<string, Promise<Body>>();
  const inUse = new Map<string, WeakRef<Body>>();

  async function read(name: string, url: URL): Promise<Body> {
    try {
      const body = new Uint8Array(await readFile(url));
      inUse.set(name, new WeakRef(body));
      return body;
    } finally {
      reading.delete(name);
    }
  }

  function load(name: string, url: URL): Promise<Body> {
    const pending = reading.get(name) ?? read(name, url);
    reading.set(name, pending);
    return pending;
  }

  return async function findDocsAsset(name) {
    files ??= listFiles();
    const file = files.get(name);
    if (file === undefined) return undefined;
    return { contentType: file.contentType, body: inUse.get(name)?.deref() ?? (await load(name, file.url)) };
  };
}
