/** The bare server: baseline of the HTTP measures. Started by `startChild`. */
import { once } from 'node:events';
import { serve } from '@hono/node-server';
import type { BareCalls } from '../baselines/bareCalls.ts';
import { createBareApp } from '../baselines/createBareApp.ts';
import { serveCalls } from '../processes/serveCalls.ts';

serveCalls<BareCalls>({
  async listen({ constant }) {
    const server = serve({ fetch: createBareApp(constant).fetch, hostname: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The bare server has no port.');
    return address.port;
  },
});
