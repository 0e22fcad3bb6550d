// The API reference: shows this service's own OpenAPI document, and lets a reader try its calls.
/* global SwaggerUIBundle */

/** The service's root: the page stands at `/docs`, below whatever base path there is. */
const root = new URL('.', document.baseURI);
const TOKEN_PATH = '/dev/identity/token';
const RELAYER_PATH = '/dev/relayer/sign';

/** @param {string} id */
const find = (id) => document.getElementById(id);

function followColorScheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

async function loadDocument() {
  const response = await fetch(new URL('openapi.json', root));
  if (!response.ok) throw new Error(`openapi.json answered ${response.status}`);
  return forReading(await response.json());
}

/** Leaves out of each answer's table what stands on every answer and is listed once, under CORS. */
function withoutCorsHeaders({ headers, ...response }) {
  const shown = Object.entries(headers ?? {}).filter(([name]) => !name.startsWith('Access-Control-'));
  return { ...response, headers: Object.fromEntries(shown) };
}

/** The document as the page shows it. */
function forReading(description) {
  const { responses, securitySchemes } = description.components;
  // The form that asks for the header is no place for the whole explanation.
  securitySchemes.relayerSignature.description = 'Signs this one call; see “Relayer authentication”.';
  for (const name of Object.keys(responses)) responses[name] = withoutCorsHeaders(responses[name]);
  for (const operation of Object.values(description.paths).flatMap(Object.values)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!('$ref' in response)) operation.responses[status] = withoutCorsHeaders(response);
    }
  }
  // Calls go to where the page came from, whatever address the document gives: this page may call no other host.
  return { ...description, servers: [{ url: root.href.replace(/\/$/, ''), description: 'This service' }] };
}

/** Fills the column beside the reference: its chapters, then its groups of routes. */
function listContents(reference) {
  const targets = reference.querySelectorAll('.info h1, .info h2, .opblock-tag');
  const entries = [...targets].map((target) => {
    const entry = document.createElement('button');
    entry.type = 'button';
    // A group's heading goes on with its description, the title with its version.
    entry.textContent = (target.querySelector('a span') ?? target.firstChild).textContent;
    entry.className = target.matches('.opblock-tag') ? 'contents-group' : 'contents-chapter';
    entry.addEventListener('click', () => target.scrollIntoView());
    return entry;
  });
  find('contents').replaceChildren(...entries);
}

/** Lists the contents as soon as the groups of routes stand on the page. */
function listContentsWhenShown() {
  const reference = find('reference');
  const observer = new MutationObserver(() => {
    if (reference.querySelector('.opblock-tag') === null) return;
    observer.disconnect();
    listContents(reference);
  });
  observer.observe(reference, { childList: true, subtree: true });
}

/** @returns the answer's JSON @throws Error with its sentence where it is a refusal */
async function post(path, json, headers = {}) {
  const response = await fetch(new URL(path.slice(1), root), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(json),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Finds which calls a relayer signs, by method and path. */
function listRelayerCalls({ paths }) {
  return Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security?.some((one) => 'relayerSignature' in one))
      .map(([method]) => ({ method, path: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`) })),
  );
}

/** Signs what a relayer signs, once the reader has asked for it. */
function createRelayerCalls(description) {
  const calls = listRelayerCalls(description);
  let isOn = false;
  return {
    /** @returns the relayer's address */
    async turnOn(adminKey) {
      const { headers } = await post(RELAYER_PATH, { method: 'GET', path: '/requests' });
      const address = headers['x-relayer-address'];
      await post('/admin/relayers', { address, label: 'development relayer' }, { 'x-admin-key': adminKey });
      isOn = true;
      return address;
    },
    async sign(request) {
      // The service routes what is behind its root.
      const path = `/${new URL(request.url).pathname.slice(root.pathname.length)}`;
      const method = request.method.toLowerCase();
      if (!isOn || !calls.some((call) => call.method === method && call.path.test(path))) return request;
      const body = typeof request.body === 'string' ? { body: request.body } : {};
      const { headers } = await post(RELAYER_PATH, { method: request.method, path, ...body });
      return Object.assign(request, { headers: { ...request.headers, ...headers } });
    },
  };
}

function showReference(description, relayerCalls) {
  find('version').textContent = description.info.version;
  listContentsWhenShown();
  return SwaggerUIBundle({
    spec: description,
    domNode: find('reference'),
    layout: 'BaseLayout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelRendering: 'example',
    displayRequestDuration: true,
    tryItOutEnabled: false,
    persistAuthorization: false,
    validatorUrl: null,
    requestInterceptor: relayerCalls.sign,
  });
}

/** In the development stage: a token for the asking, and the admin key's default. */
function offerAids(ui, { description, relayerCalls }) {
  const status = find('aid-status');
  find('token-form').hidden = description.paths[TOKEN_PATH] === undefined;
  find('token-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const sub = find('token-user').value;
    try {
      const { access_token: token, expires_in: seconds } = await post(TOKEN_PATH, { sub });
      ui.preauthorizeApiKey('bearer', token);
      status.textContent = `Calls now carry a token of ${sub}, good for ${Math.round(seconds / 60)} minutes.`;
    } catch (error) {
      status.textContent = `No token: ${error.message}`;
    }
  });
  find('admin-form').addEventListener('submit', (event) => {
    event.preventDefault();
    ui.preauthorizeApiKey('adminKey', find('admin-key').value);
    status.textContent = 'Calls of /admin now carry this X-Admin-Key.';
  });
  find('relayer-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const address = await relayerCalls.turnOn(find('admin-key').value);
      status.textContent = `${address} is on the whitelist, and signs the relayer calls that you try.`;
    } catch (error) {
      status.textContent = `No relayer: ${error.message}`;
    }
  });
  find('aids').hidden = false;
}

followColorScheme();
// On a narrow screen they would stand before all else.
find('contents-fold').open = !matchMedia('(max-width: 60rem)').matches;
try {
  const description = await loadDocument();
  const relayerCalls = createRelayerCalls(description);
  const ui = showReference(description, relayerCalls);
  if (description.paths[RELAYER_PATH] !== undefined) offerAids(ui, { description, relayerCalls });
} catch (error) {
  find('reference').textContent = `The reference cannot be shown: ${error.message}`;
}
