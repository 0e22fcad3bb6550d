import type { PlainRoute } from '../../http/createRouter.ts';
import { routeNotFound } from '../../http/errors.ts';
import type { HeaderReader } from '../../http/request.ts';
import { type HttpResponse, jsonResponse } from '../../http/response.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';

/** What the reference's page may do: run its own scripts, show its own styles, and call this service. Its icons are `data:`. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** Seconds that a browser may keep the reference's files. */
const ASSET_MAX_AGE = 3600;

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

/** `GET /`, `/openapi.json`, `/docs` and its files. */
export function docsRoutes(ports: Pick<GatewayPorts, 'openApi' | 'docsAsset'>): PlainRoute[] {
  return [
    { path: '/', answer: (_params, headers) => answerRoot(ports, headers) },
    { path: '/openapi.json', answer: async () => ({ status: 200, body: await ports.openApi() }) },
    // The page's addresses are relative to `/docs`.
    { path: '/docs/', answer: async () => ({ status: 308, body: null, headers: { location: '../docs' } }) },
    { path: '/docs', answer: () => answerAsset(ports, 'index.html', '/docs') },
    {
      path: '/docs/:asset',
      answer: ({ asset = '' }) => answerAsset(ports, asset, `/docs/${asset}`),
    },
  ];
}
