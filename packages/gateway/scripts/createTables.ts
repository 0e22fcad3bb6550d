/** Creates the tables that the settings name in a local DynamoDB engine, as the server does when it starts on one. */

import { createLogger } from '@prism-gateway/runtime/logs';
import { openStores } from '../src/entry/openStores.ts';
import { parseSettings } from '../src/entry/settings.ts';
import { createWorkerThread } from '../src/entry/workerThread/createWorkerThread.ts';

const write = (line: string) => void process.stderr.write(line);
const logger = createLogger({ level: 'warn', write, now: Date.now });
// It follows no stream: nothing is delivered by a process that ends at once.
const settings = { ...parseSettings(process.env), WEBHOOKS_DELIVERED_BY: 'functions' } as const;
const thread = createWorkerThread();
const stores = await openStores({ settings, environment: process.env, now: Date.now, thread, logger });
await stores.close();
