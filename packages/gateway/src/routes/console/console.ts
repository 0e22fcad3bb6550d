import type { PlainRoute } from '../../http/createRouter.ts';
import { routeNotFound } from '../../http/errors.ts';
import type { DocsAsset, GatewayPorts } from '../../ports/gatewayPorts.ts';

/** The console's rights: to run its own scripts, show its own styles, and call this service. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

type ConsolePorts = Pick<GatewayPorts, 'consoleAsset'>;

function answer(asset: DocsAsset) {
  const headers = {
    'content-type': asset.contentType,
    'content-security-policy': PAGE_POLICY,
    // A console of another version than its gateway would call what is not there.
    'cache-control': 'no-cache',
  };
  return { status: 200, body: asset.body, headers };
}

async function answerAsset({ consoleAsset }: ConsolePorts, name: string, path: string) {
  const asset = await consoleAsset(name);
  if (asset === undefined) throw routeNotFound('GET', path);
  return answer(asset);
}

/** Answers the page itself, whose addresses are relative to `/console`: from a view's own address, that is some steps up. */
async function answerPage({ consoleAsset }: ConsolePorts, path: string) {
  const page = await consoleAsset('index.html');
  if (page === undefined) throw routeNotFound('GET', path);
  const up = '../'.repeat(path.split('/').length - 2);
  const html = typeof page.body === 'string' ? page.body : new TextDecoder().decode(page.body);
  return answer({ ...page, body: html.replaceAll(/(href|src)="/g, `$1="${up}`) });
}

/**
 * `GET /console`, its files, and the address of each of its views, like `/console/requests/ID`. They hold nothing secret: whoever acts needs the administrator's key.
 *
 * @see docs/specification.md CONSOLE-1
 */
export function consoleRoutes(ports: ConsolePorts): PlainRoute[] {
  return [
    // The page's addresses are relative to `/console`.
    { path: '/console/', answer: async () => ({ status: 308, body: null, headers: { location: '../console' } }) },
    { path: '/console', answer: () => answerPage(ports, '/console') },
    {
      path: '/console/:asset',
      // A file's name has an ending, and a view's has none.
      answer: ({ asset = '' }) =>
        asset.includes('.') ? answerAsset(ports, asset, `/console/${asset}`) : answerPage(ports, `/console/${asset}`),
    },
    { path: '/console/:view/:id', answer: () => answerPage(ports, '/console/view/id') },
  ];
}
