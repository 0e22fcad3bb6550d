import { Hono } from 'hono';

/**
 * Makes the least that the HTTP stack can do: a constant for a GET, a parsed body and a 201 for a POST. No checks, no store, no
 * headers beyond the content type.
 *
 * @param constant JSON text that every GET answers
 * @returns the application
 */
export function createBareApp(constant: string): Hono {
  const app = new Hono();
  app.get('/requests/:requestId', (c) => c.body(constant, 200, { 'Content-Type': 'application/json' }));
  app.post('*', async (c) => {
    const body: unknown = await c.req.json();
    return c.json({ ok: typeof body === 'object' }, 201);
  });
  return app;
}
