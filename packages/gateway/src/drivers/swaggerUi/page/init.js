// The API reference: shows this service's own OpenAPI document, and lets a reader try its calls.
/* global SwaggerUIBundle */

/** The service's root: the page stands at `/docs`, below whatever base path there is. */
const root = new URL('.', document.baseURI);
const TOKEN_PATH = '/dev/identity/token';

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
  const description = await response.json();
  // Calls go to where the page came from, whatever address the document gives: this page may call no other host.
  description.servers = [{ url: root.href.replace(/\/$/, ''), description: 'This service' }];
  return description;
}

function showReference(description) {
  find('version').textContent = description.info.version;
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
  });
}

async function requestToken(sub) {
  const response = await fetch(new URL(TOKEN_PATH.slice(1), root), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** In the development stage: a token for the asking, and the admin key's default. */
function offerAids(ui) {
  const status = find('aid-status');
  find('token-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const sub = find('token-user').value;
    try {
      const { access_token: token, expires_in: seconds } = await requestToken(sub);
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
  find('aids').hidden = false;
}

followColorScheme();
try {
  const description = await loadDocument();
  const ui = showReference(description);
  if (description.paths[TOKEN_PATH] !== undefined) offerAids(ui);
} catch (error) {
  find('reference').textContent = `The reference cannot be shown: ${error.message}`;
}
