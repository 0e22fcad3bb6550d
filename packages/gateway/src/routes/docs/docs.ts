import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { PlainRoute } from '../../http/createRouter.ts';
import { routeNotFound } from '../../http/errors.ts';
import type { HeaderReader } from '../../http/request.ts';
import { type HttpResponse, jsonResponse } from '../../http/response.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';

/** The rights of the reference's page: to run its own scripts, show its own styles, and call this service. Its icons are `data:`. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** Seconds that a browser may keep the reference's files. */
const ASSET_MAX_AGE = 3600;

/** Characters of a document's tag: enough to distinguish two versions. */
const TAG_LENGTH = 22;

/** A browser names the type that a person can read; programs send none, or one that fits anything. */
const wantsPage = (headers: HeaderReader) => headers.get('accept')?.includes('text/html') === true;

/** Says where the rest is. @see docs/specification.md OPERATE-8 */
async function answerRoot(ports: Pick<GatewayPorts, 'docsAsset'>, headers: HeaderReader): Promise<HttpResponse> {
  const page = wantsPage(headers) ? await ports.docsAsset('home.html') : undefined;
  if (page === undefined)
    return jsonResponse(200, { name: 'Prism Gateway', docs: '/docs', openapi: '/openapi.json', health: '/health' });
  const { contentType, body } = page;
  return { status: 200, body, headers: { 'content-type': contentType, 'content-security-policy': PAGE_POLICY } };
}

async function answerAsset(ports: Pick<GatewayPorts, 'docsAsset'>, name: string, path: string) {
  const asset = await ports.docsAsset(name);
  if (asset === undefined) throw routeNotFound('GET', path);
  const headers = {
    'content-type': asset.contentType,
    'content-security-policy': PAGE_POLICY,
    'cache-control': `public, max-age=${ASSET_MAX_AGE}`,
  };
  return { status: 200, body: asset.body, headers };
}

/**
 * Makes the answer to `GET /openapi.json`: the document with its tag, compressed for who takes that, or 304 for who has it.
 *
 * @see docs/specification.md OPERATE-8
 */
function createDocumentAnswer({ openApi }: Pick<GatewayPorts, 'openApi'>): PlainRoute['answer'] {
  let made: Promise<{ readonly body: Uint8Array<ArrayBuffer>; readonly zipped: Uint8Array<ArrayBuffer>; tag: string }>;
  async function make() {
    const body = new Uint8Array(Buffer.from(await openApi()));
    const zipped = new Uint8Array(gzipSync(body));
    return { body, zipped, tag: `W/"${hash('sha256', body, 'base64url').slice(0, TAG_LENGTH)}"` };
  }
  return async (_params, headers) => {
    made ??= make();
    const { body, zipped, tag } = await made;
    const shared = { etag: tag, vary: 'accept-encoding', 'cache-control': 'no-cache' };
    if (headers.get('if-none-match')?.includes(tag) === true) return { status: 304, body: null, headers: shared };
    if (headers.get('accept-encoding')?.includes('gzip') !== true) return { status: 200, body, headers: shared };
    return { status: 200, body: zipped, headers: { ...shared, 'content-encoding': 'gzip' } };
  };
}

/** `GET /`, `/openapi.json`, `/docs` and its files. */
export function docsRoutes(ports: Pick<GatewayPorts, 'openApi' | 'docsAsset'>): PlainRoute[] {
  return [
    { path: '/', answer: (_params, headers) => answerRoot(ports, headers) },
    { path: '/openapi.json', answer: createDocumentAnswer(ports) },
    // The page's addresses are relative to `/docs`.
    { path: '/docs/', answer: async () => ({ status: 308, body: null, headers: { location: '../docs' } }) },
    { path: '/docs', answer: () => answerAsset(ports, 'index.html', '/docs') },
    {
      path: '/docs/:asset',
      answer: ({ asset = '' }) => answerAsset(ports, asset, `/docs/${asset}`),
    },
  ];
}
