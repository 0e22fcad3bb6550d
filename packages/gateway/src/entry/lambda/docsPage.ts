import type { DocsAsset } from '../../ports/gatewayPorts.ts';

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Prism Gateway</title>
<h1>Prism Gateway</h1>
<p>This deployment serves its API reference as a document only: <a href="openapi.json">OpenAPI 3.1</a>.
Open it in any reader of such documents, or run the gateway on your machine (<code>npm start</code>) and read it there.</p>
</html>
`;

/** Finds what `/docs` shows on Lambda: a page that leads to the document. The reader itself would be four times the bundle. */
export async function findDocsPage(name: string): Promise<DocsAsset | undefined> {
  return name === 'index.html' ? { contentType: 'text/html; charset=utf-8', body: page } : undefined;
}
