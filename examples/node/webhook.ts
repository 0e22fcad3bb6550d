/** A receiver of webhooks: it verifies each delivery, takes each event once, and answers before it works. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** The secret that the gateway returned when the webhook was registered: `whsec_…`. */
const { WEBHOOK_SECRET: secret = '', PORT: port = '8791' } = process.env;
if (secret === '') {
  console.error('Set WEBHOOK_SECRET to the secret that POST /admin/webhooks has shown.');
  process.exit(1);
}

/** Largest body that is read, in bytes: deliveries have a few kB. */
const MAX_BYTES = 65_536;
/** Ids of events that have come; a real receiver keeps them where it keeps what it does about them. */
const known = new Set<string>();
const webhook = new Webhook(secret);

const server = createServer(async (request, response) => {
  if (request.method !== 'POST' || Number(request.headers['content-length'] ?? MAX_BYTES + 1) > MAX_BYTES) {
    response.writeHead(400).end();
    return;
  }
  try {
    const body = await text(request);
    // The headers that it looks at come once each. It throws for a wrong signature, and for a time more than five minutes off.
    const { type, data } = webhook.verify(body, request.headers as Record<string, string>) as {
      readonly type: string;
      readonly data: { readonly requestId: string; readonly status: string };
    };
    response.writeHead(204).end();
    const id = String(request.headers['webhook-id']);
    // At least once: after a lost answer the same event comes again.
    if (known.has(id)) return;
    known.add(id);
    console.log(`${type} ${data.requestId} ${data.status}`);
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
  }
});

server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  const at = typeof address === 'object' && address !== null ? address.port : port;
  console.log(`Receives webhooks at http://127.0.0.1:${at}/`);
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    // The gateway keeps its connections.
    server.closeAllConnections();
  });
}
