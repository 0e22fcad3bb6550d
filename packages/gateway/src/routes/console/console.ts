import type { PlainRoute } from '../../http/createRouter.ts';
import { routeNotFound } from '../../http/errors.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';

/** What the console may do: run its own scripts, show its own styles, and call this service. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

async function answerAsset({ consoleAsset }: Pick<GatewayPorts, 'consoleAsset'>, name: string, path: string) {
  const asset = await consoleAsset(name);
  if (asset === undefined) throw routeNotFound('GET', path);
  const headers = {
    'content-type': asset.contentType,
    'content-security-policy': PAGE_POLICY,
    // A console of another version than its gateway would call what is not there.
    'cache-control': 'no-cache',
  };
  return { status: 200, body: asset.body, headers };
}

/**
 * `GET /console` and its files. They hold nothing secret: whoever acts needs the administrator's key.
 *
 * @see docs/specification.md CONSOLE-1
 */
export function consoleRoutes(ports: Pick<GatewayPorts, 'consoleAsset'>): PlainRoute[] {
  return [
    // The page's addresses are relative to `/console`.
    { path: '/console/', answer: async () => ({ status: 308, body: null, headers: { location: '../console' } }) },
    { path: '/console', answer: () => answerAsset(ports, 'index.html', '/console') },
    { path: '/console/:asset', answer: ({ asset = '' }) => answerAsset(ports, asset, `/console/${asset}`) },
  ];
}
