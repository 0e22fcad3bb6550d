/**
 * The bare server, baseline of the HTTP measures: the least that the HTTP stack can do. A constant for a GET, a parsed body and a 201 for
 * a POST; no checks, no store, no headers beyond the content type. Started by `startBareServer`, which learns the port.
 */
import { once } from 'node:events';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const [constant = '{}'] = process.argv.slice(2);
const app = new Hono();
app.get('/requests/:requestId', (c) => c.body(constant, 200, { 'Content-Type': 'application/json' }));
app.post('*', async (c) => {
  const body: unknown = await c.req.json();
  return c.json({ ok: typeof body === 'object' }, 201);
});
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The bare server has no port.');
process.send?.(address.port);
process.on('disconnect', () => process.exit(0));
